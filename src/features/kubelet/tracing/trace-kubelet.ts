import {AsyncLocalStorage} from 'node:async_hooks';
import {hostname} from 'node:os';
import {ROOT_CONTEXT, trace, type Context} from '@opentelemetry/api';
import {OTLPTraceExporter} from '@opentelemetry/exporter-trace-otlp-grpc';
import {resourceFromAttributes} from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import {messageOf} from '../../../base/errors.js';
import type {Clock} from '../../../base/clock.js';
import {finishesWithin} from '../../../base/async/deadline.js';
import type {Logger} from '../../../base/logger.js';
import {createSpanObserver, endSpan, reportingExporter} from '../../../cli/diagnostics/spans.js';
import type {CallObserver} from '../../../cri/index.js';
import {namespacedName, podRef, type PodTracer} from '../../../kubelet/index.js';

/** Options of traceKubelet. */
export interface KubeletTracingOptions {
  /** Endpoint of the collector, which speaks OTLP over gRPC without TLS. */
  readonly endpoint: string;
  /** Number of traces to send per million. */
  readonly perMillion: number;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Masks secrets in messages of errors. */
  readonly mask: (text: string) => string;
}

/** Traces of a kubelet. Disposing waits for a short time until they are sent. */
export interface KubeletTracing extends AsyncDisposable {
  /** Records the calls of the runtime, and passes their spans on to it. */
  readonly observers: readonly CallObserver[];
  readonly tracer: PodTracer;
}

/** Maximum time to wait for the collector, in ms: of an export in the background, and at the end. */
const EXPORT_MS = 10_000;
const FLUSH_MS = 2000;
const MILLION = 1_000_000;

/**
 * Traces a kubelet with its span names. Spans are sent in the background from a queue of limited size: without a collector they are
 * dropped, and the log says so once.
 */
export function traceKubelet(options: KubeletTracingOptions): KubeletTracing {
  const {perMillion, clock, mask} = options;
  const provider = new BasicTracerProvider({
    sampler: new ParentBasedSampler({root: new TraceIdRatioBasedSampler(perMillion / MILLION)}),
    spanProcessors: [new BatchSpanProcessor(createExporter(options), {exportTimeoutMillis: EXPORT_MS})],
    resource: resourceFromAttributes({'service.name': 'kubelet', 'host.name': hostname()}),
  });
  const tracer = provider.getTracer('k8s.io/kubernetes/pkg/kubelet');
  const contexts = new AsyncLocalStorage<Context>();
  return {
    observers: [createSpanObserver(tracer, () => contexts.getStore() ?? ROOT_CONTEXT, mask)],
    tracer: {
      trace: async (name, pod, updateType, work) => {
        const ref = podRef(pod);
        const attributes = {
          'k8s.pod.uid': ref.uid,
          'k8s.pod': namespacedName(ref),
          'k8s.pod.name': ref.name,
          'k8s.namespace.name': ref.namespace,
          ...(name === 'syncPod' && {'k8s.pod.update_type': updateType}),
        };
        const span = tracer.startSpan(name, {attributes}, ROOT_CONTEXT);
        try {
          const result = await contexts.run(trace.setSpan(ROOT_CONTEXT, span), work);
          endSpan(span, undefined, mask);
          return result;
        } catch (error) {
          endSpan(span, error, mask);
          throw error;
        }
      },
    },
    [Symbol.asyncDispose]: async () => {
      const sent = provider.shutdown().catch(() => undefined);
      await finishesWithin(sent, FLUSH_MS, clock, new AbortController().signal);
    },
  };
}

/** Returns the exporter, which logs the first of several failures. */
function createExporter({
  endpoint,
  logger,
  mask,
}: KubeletTracingOptions): ReturnType<typeof reportingExporter> {
  const fileLogger = logger.forFile('trace-kubelet.ts');
  let hasFailed = false;
  const exporter = new OTLPTraceExporter({url: exporterUrl(endpoint), timeoutMillis: EXPORT_MS});
  return reportingExporter(exporter, (error) => {
    if (error !== undefined && !hasFailed)
      fileLogger.error(mask(messageOf(error)), 'Failed to send traces', {endpoint});
    hasFailed = error !== undefined;
  });
}

/** Returns the endpoint as the exporter takes it: without TLS, unless it is a unix socket. */
function exporterUrl(endpoint: string): string {
  return endpoint.startsWith('unix') ? endpoint : `http://${endpoint.replace(/^dns:\/\/\/?/, '')}`;
}
