import {hostname} from 'node:os';
import {ROOT_CONTEXT, trace} from '@opentelemetry/api';
import {OTLPTraceExporter} from '@opentelemetry/exporter-trace-otlp-grpc';
import {resourceFromAttributes} from '@opentelemetry/resources';
import {AlwaysOnSampler, BasicTracerProvider, BatchSpanProcessor} from '@opentelemetry/sdk-trace-base';
import {systemClock} from '../../base/clock.js';
import {messageOf} from '../../base/errors.js';
import type {Diagnostic, DiagnosedCommand} from './diagnostic.js';
import {CALL_SCOPE, createSpanObserver, endSpan, reportingExporter} from './spans.js';
import {traceSampler} from './trace-sampler.js';

/** Options of a trace. */
export interface TracingOptions {
  /** `HOST:PORT` of a collector that speaks OTLP over gRPC without TLS. */
  readonly endpoint: string;
  /** Number of traces to send per million; negative for all. */
  readonly perMillion: number;
  /** Maximum time to wait for a response of the collector, in ms; 2 s by default. */
  readonly flushMs?: number;
}

const FLUSH_MS = 2000;
/** Maximum length of a reported problem, in UTF-16 code units. */
const LONGEST_PROBLEM = 500;

/**
 * Traces a command with a root span and one child span per call. Each call passes its span to the runtime as W3C
 * traceparent. `finish` sends the spans, and warns if the collector does not accept them.
 */
export function startTrace(
  {endpoint, perMillion, flushMs = FLUSH_MS}: TracingOptions,
  command: DiagnosedCommand,
): Diagnostic {
  let failure: string | undefined;
  const exporter = reportingExporter(
    new OTLPTraceExporter({url: `http://${endpoint}`, timeoutMillis: flushMs}),
    (error) => {
      if (error !== undefined) failure = messageOf(error);
    },
  );
  const provider = new BasicTracerProvider({
    sampler: perMillion < 0 ? new AlwaysOnSampler() : traceSampler(perMillion),
    spanProcessors: [new BatchSpanProcessor(exporter)],
    resource: resourceFromAttributes({
      'service.name': command.program,
      'host.name': hostname(),
      'process.pid': process.pid,
    }),
  });
  const root = provider
    .getTracer('kcri')
    .startSpan(command.name, {attributes: {command: command.name}}, ROOT_CONTEXT);
  const finish = async (error: unknown): Promise<void> => {
    endSpan(root, error, command.mask);
    const sent = provider.shutdown().then(
      () => failure,
      (problem: unknown) => messageOf(problem),
    );
    const problem = await Promise.race([sent, tooLate(flushMs)]);
    if (problem !== undefined) command.warn(`cannot send the trace to ${endpoint}: ${summarize(problem)}`);
  };
  const context = trace.setSpan(ROOT_CONTEXT, root);
  const calls = provider.getTracer(CALL_SCOPE);
  return {observer: createSpanObserver(calls, () => context, command.mask), finish};
}

/** Returns an error of the exporter, which may contain text of the collector, as a short line. */
function summarize(problem: string): string {
  const line = problem.replace(/\.? Resolution note:.*$/s, '').replace(/\s+/g, ' ');
  return line.length <= LONGEST_PROBLEM ? line : `${line.slice(0, LONGEST_PROBLEM)}...`;
}

async function tooLate(flushMs: number): Promise<string> {
  await systemClock.sleep(flushMs + 500);
  return `no response within ${flushMs / 1000}s`;
}
