import {hostname} from 'node:os';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import {OTLPTraceExporter} from '@opentelemetry/exporter-trace-otlp-grpc';
import {resourceFromAttributes} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  TraceIdRatioBasedSampler,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import {systemClock} from '../../base/clock.js';
import {KcriError, messageOf} from '../../base/errors.js';
import {CriError, type CallObserver} from '../../cri/index.js';
import type {Diagnostic, DiagnosedCommand} from './diagnostic.js';
import {maskSecretText} from '../redaction/mask-secrets.js';

/** Options of a trace. */
export interface TracingOptions {
  /** `HOST:PORT` of a collector that speaks OTLP over gRPC without TLS. */
  readonly endpoint: string;
  /** Number of traces to send per million; negative for all. */
  readonly perMillion: number;
}

/** Maximum time to wait for the collector at the end of the command, in ms. */
const FLUSH_MS = 2000;
const MILLION = 1_000_000;
/** Maximum length of a reported problem, in UTF-16 code units. */
const LONGEST_PROBLEM = 500;

/**
 * Traces a command with a root span and one child span per call. Each call passes its span to the runtime as W3C
 * traceparent. `finish` sends the spans, and warns if the collector does not accept them.
 */
export function startTrace({endpoint, perMillion}: TracingOptions, command: DiagnosedCommand): Diagnostic {
  let failure: string | undefined;
  const exporter = reporting(
    new OTLPTraceExporter({url: `http://${endpoint}`, timeoutMillis: FLUSH_MS}),
    (error) => (failure = messageOf(error)),
  );
  const provider = new BasicTracerProvider({
    sampler: samplerOf(perMillion),
    spanProcessors: [new BatchSpanProcessor(exporter)],
    resource: resourceFromAttributes({
      'service.name': command.program,
      'host.name': hostname(),
      'process.pid': process.pid,
    }),
  });
  const tracer = provider.getTracer('kcri');
  const root = tracer.startSpan(command.name, {attributes: {command: command.name}}, ROOT_CONTEXT);
  const finish = async (error: unknown): Promise<void> => {
    endSpan(root, error, command.mask);
    const sent = provider.shutdown().then(
      () => failure,
      (problem: unknown) => messageOf(problem),
    );
    const problem = await Promise.race([sent, tooLate()]);
    if (problem !== undefined) command.warn(`cannot send the trace to ${endpoint}: ${summarize(problem)}`);
  };
  return {observer: observer(tracer, trace.setSpan(ROOT_CONTEXT, root), command.mask), finish};
}

/** Returns an error of the exporter, which may contain text of the collector, as a short line. */
function summarize(problem: string): string {
  const line = problem.replace(/\.? Resolution note:.*$/s, '').replace(/\s+/g, ' ');
  return line.length <= LONGEST_PROBLEM ? line : `${line.slice(0, LONGEST_PROBLEM)}...`;
}

async function tooLate(): Promise<string> {
  await systemClock.sleep(FLUSH_MS + 500);
  return `no response within ${FLUSH_MS / 1000}s`;
}

function samplerOf(perMillion: number): Sampler {
  if (perMillion < 0 || perMillion >= MILLION) return new AlwaysOnSampler();
  return perMillion === 0 ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(perMillion / MILLION);
}

/** Wraps an exporter to report its failures, which the SDK swallows. */
function reporting(exporter: SpanExporter, onFailure: (error: unknown) => void): SpanExporter {
  return {
    export: (spans, done) => {
      exporter.export(spans, (result) => {
        if (result.error !== undefined) onFailure(result.error);
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

/** Creates an observer that records a span for each call, with otelgrpc's names and attributes. */
function observer(tracer: Tracer, parent: Context, mask: DiagnosedCommand['mask']): CallObserver {
  return ({service, method}) => {
    const span = tracer.startSpan(
      `${service}/${method.rpc}`,
      {
        kind: SpanKind.CLIENT,
        attributes: {'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': method.rpc},
      },
      parent,
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

function endSpan(span: Span, error: unknown, mask: DiagnosedCommand['mask']): void {
  if (error !== undefined) {
    const message = mask(maskSecretText(error instanceof KcriError ? error.plainMessage : messageOf(error)));
    span.setStatus({code: SpanStatusCode.ERROR, message});
    // The stack of the error contains its unmasked message.
    if (error instanceof Error) span.recordException({name: error.name, message});
  }
  span.end();
}
