import {SpanKind, SpanStatusCode, type Context, type Span, type Tracer} from '@opentelemetry/api';
import type {SpanExporter} from '@opentelemetry/sdk-trace-base';
import {KcriError, messageOf} from '../../base/errors.js';
import {CriError, type CallObserver} from '../../cri/index.js';
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

/** Returns the gRPC status number of a CriError; 0 for any other error. */
function statusNumber(error: unknown): number {
  return error instanceof CriError ? error.grpcNumber : 0;
}

/**
 * Creates an observer that records a span for each call, with otelgrpc's names and attributes. `parentOf` returns the context of
 * the call. The runtime gets the span as W3C traceparent.
 */
export function createSpanObserver(tracer: Tracer, parentOf: () => Context, mask: Mask): CallObserver {
  return ({service, method}) => {
    const span = tracer.startSpan(
      `${service}/${method.rpc}`,
      {
        kind: SpanKind.CLIENT,
        attributes: {'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': method.rpc},
      },
      parentOf(),
    );
    const {traceId, spanId, traceFlags} = span.spanContext();
    return {
      metadata: {traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`},
      ended: (error) => {
        span.setAttribute('rpc.grpc.status_code', statusNumber(error));
        endSpan(span, error, mask);
      },
    };
  };
}

/** Ends a span, as failed if there is an error, whose message is masked. */
export function endSpan(span: Span, error: unknown, mask: Mask): void {
  if (error !== undefined) {
    const message = mask(maskSecretText(error instanceof KcriError ? error.plainMessage : messageOf(error)));
    span.setStatus({code: SpanStatusCode.ERROR, message});
    // The stack of the error contains its unmasked message.
    if (error instanceof Error) span.recordException({name: error.name, message});
  }
  span.end();
}
