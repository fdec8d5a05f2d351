import {SpanKind, SpanStatusCode, type Context, type Span, type Tracer} from '@opentelemetry/api';
import type {SpanExporter} from '@opentelemetry/sdk-trace-base';
import {KcriError, messageOf} from '../../base/errors.js';
import {CriError, socketPath, type CallObserver} from '../../cri/index.js';
import {maskSecretText} from '../redaction/mask-secrets.js';

type Mask = (text: string) => string;

/** Wraps an exporter to report its failures, which the SDK swallows; undefined stands for a success. */
export function reportingExporter(
  exporter: SpanExporter,
  onResult: (error: Error | undefined) => void,
): SpanExporter {
  return {
    export: (spans, done) => {
      exporter.export(spans, (result) => {
        onResult(result.error);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

/** Scope of the spans of calls (otelgrpc). */
export const CALL_SCOPE = 'go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc';

/**
 * Creates an observer that records a span for each call, with otelgrpc's names and attributes. `parentOf` returns the context of
 * the call. The runtime gets the span as W3C traceparent.
 */
export function createSpanObserver(tracer: Tracer, parentOf: () => Context, mask: Mask): CallObserver {
  return ({service, method, endpoint}) => {
    const name = `${service}/${method.rpc}`;
    const attributes = {'rpc.method': name, 'rpc.system.name': 'grpc'};
    const span = tracer.startSpan(name, {kind: SpanKind.CLIENT, attributes}, parentOf());
    return {
      metadata: {traceparent: formatTraceparent(span)},
      ended: (error) => {
        const failure = error instanceof CriError ? error : undefined;
        if (failure?.neverConnected !== true) span.setAttribute('server.address', socketPath(endpoint));
        span.setAttribute(
          'rpc.response.status_code',
          failure?.goCode ?? (error === undefined ? 'OK' : 'Unknown'),
        );
        if (error !== undefined) failSpan(span, failure?.details ?? messageOf(error), mask);
        span.end();
      },
    };
  };
}

/** Returns a span as W3C traceparent. */
export function formatTraceparent(span: Span): string {
  const {traceId, spanId, traceFlags} = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** Sets the status of a span to a failure, and returns its message without secrets. */
export function failSpan(span: Span, text: string, mask: Mask): string {
  const message = mask(maskSecretText(text));
  span.setStatus({code: SpanStatusCode.ERROR, message});
  return message;
}

/** Ends a span, as failed with an exception if there is an error, whose message is masked. */
export function endSpan(span: Span, error: unknown, mask: Mask): void {
  if (error !== undefined) {
    const message = failSpan(span, error instanceof KcriError ? error.plainMessage : messageOf(error), mask);
    // The stack of the error contains its unmasked message, and names of classes are shortened in the bundle.
    if (error instanceof Error)
      span.recordException({name: error instanceof KcriError ? error.code : error.name, message});
  }
  span.end();
}
