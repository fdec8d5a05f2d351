import {AsyncLocalStorage} from 'node:async_hooks';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanOptions,
} from '@opentelemetry/api';
import {OTLPTraceExporter} from '@opentelemetry/exporter-trace-otlp-grpc';
import {resourceFromAttributes} from '@opentelemetry/resources';
import {BasicTracerProvider, BatchSpanProcessor} from '@opentelemetry/sdk-trace-base';
import {messageOf} from '../../../base/errors.js';
import type {Clock} from '../../../base/clock.js';
import {finishesWithin} from '../../../base/async/deadline.js';
import type {Logger} from '../../../base/logger.js';
import {
  CALL_SCOPE,
  createSpanObserver,
  endSpan,
  failSpan,
  formatTraceparent,
  reportingExporter,
} from '../../../cli/diagnostics/spans.js';
import {traceSampler} from '../../../cli/diagnostics/trace-sampler.js';
import type {CallObserver} from '../../../cri/index.js';
import type {ConnectApiServerOptions} from '../../../kubelet/cluster/index.js';
import {namespacedName, podRef, type KubeletTracer} from '../../../kubelet/index.js';
import {clientAttributes, serverAttributes, STATUS_ATTRIBUTE} from './http-attributes.js';

/** Options of traceKubelet. */
export interface KubeletTracingOptions {
  /** Endpoint of the collector, which speaks OTLP over gRPC without TLS. */
  readonly endpoint: string;
  /** Number of traces to send per million. */
  readonly perMillion: number;
  /** Name of the node, which is the host's name in traces. */
  readonly nodeName: string;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Masks secrets in messages of errors. */
  readonly mask: (text: string) => string;
}

/** Traces of a kubelet. Disposing waits for a short time until they are sent. */
export interface KubeletTracing extends AsyncDisposable {
  /** Records the calls of the runtime, and passes their spans on to it. */
  readonly observers: readonly CallObserver[];
  readonly tracer: KubeletTracer;
  /** Traces requests to the API server, which continues their traces. */
  readonly traceApiRequest: TraceApiRequest;
}

type Mask = KubeletTracingOptions['mask'];
type TraceApiRequest = NonNullable<ConnectApiServerOptions['trace']>;

/** Maximum time to wait for the collector, in ms: of an export in the background, and at the end. */
const EXPORT_MS = 10_000;
const FLUSH_MS = 2000;

/** Scopes of the spans of a kubelet, by package. */
const SCOPES = {
  kubelet: 'k8s.io/kubernetes/pkg/kubelet',
  Containers: 'k8s.io/kubernetes/pkg/kubelet/kuberuntime',
  Images: 'k8s.io/kubernetes/pkg/kubelet/images',
  server: 'go.opentelemetry.io/contrib/instrumentation/github.com/emicklei/go-restful/otelrestful',
  client: 'go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp',
} as const;

/**
 * Traces a kubelet with its span names. Spans are sent in the background from a queue of limited size: without a collector they are
 * dropped, and the log says so once.
 */
export function traceKubelet(options: KubeletTracingOptions): KubeletTracing {
  const {perMillion, nodeName, clock, mask} = options;
  const provider = new BasicTracerProvider({
    sampler: traceSampler(perMillion),
    spanProcessors: [new BatchSpanProcessor(createExporter(options), {exportTimeoutMillis: EXPORT_MS})],
    resource: resourceFromAttributes({'service.name': 'kubelet', 'host.name': nodeName}),
  });
  const spans = new SpanContexts(provider);
  return {
    observers: [createSpanObserver(provider.getTracer(CALL_SCOPE), () => spans.current, mask)],
    tracer: {
      tracePod: async ({span: name, pod, updateType, work, errorOf}) => {
        const span = spans.start(SCOPES.kubelet, name, {attributes: podAttributes(name, pod, updateType)});
        return await spans.settle(span, work, (error, result) => {
          const failure = error ?? (result === undefined ? undefined : errorOf?.(result.value));
          // A kubelet's span of it does not fail.
          endSpan(span, name === 'syncTerminatedPod' ? undefined : failure, mask);
        });
      },
      traceCollection: async (what, collect) => {
        const span = spans.start(SCOPES[what], `${what}/GarbageCollect`, {});
        await spans.settle(span, collect, () => {
          span.end();
        });
      },
      // As in a kubelet, a trace of the client is not continued.
      startRequest: ({route, pattern, ...request}) => {
        const attributes = serverAttributes(request, route ?? pattern);
        const span = spans.start(SCOPES.server, route ?? '', {kind: SpanKind.SERVER, attributes});
        return {
          run: async (work) => await spans.run(span, work),
          end: (status) => {
            span.setAttribute(STATUS_ATTRIBUTE, status);
            if (status >= 500) span.setStatus({code: SpanStatusCode.ERROR});
            span.end();
          },
        };
      },
    },
    traceApiRequest: traceApiRequests(spans, mask),
    [Symbol.asyncDispose]: async () => {
      const sent = provider.shutdown().catch(() => undefined);
      await finishesWithin(sent, FLUSH_MS, clock, new AbortController().signal);
    },
  };
}

/** Spans, and the one to which what is called for belongs. */
class SpanContexts {
  readonly #provider: BasicTracerProvider;
  readonly #contexts = new AsyncLocalStorage<Context>();

  constructor(provider: BasicTracerProvider) {
    this.#provider = provider;
  }

  get current(): Context {
    return this.#contexts.getStore() ?? ROOT_CONTEXT;
  }

  /** Starts a span without a parent, or below the current one. */
  start(scope: string, name: string, options: SpanOptions, parent: Context = ROOT_CONTEXT): Span {
    return this.#provider.getTracer(scope).startSpan(name, options, parent);
  }

  async run<T>(span: Span, work: () => Promise<T>): Promise<T> {
    return await this.#contexts.run(trace.setSpan(ROOT_CONTEXT, span), work);
  }

  /** Runs the work in a span, and calls `end` with its error or its result. */
  async settle<T>(
    span: Span,
    work: () => Promise<T>,
    end: (error: unknown, result?: {readonly value: T}) => void,
  ): Promise<T> {
    try {
      const value = await this.run(span, work);
      end(undefined, {value});
      return value;
    } catch (error) {
      end(error);
      throw error;
    }
  }
}

type TracedPod = Parameters<KubeletTracer['tracePod']>[0];

function podAttributes(name: TracedPod['span'], pod: TracedPod['pod'], updateType: string): Attributes {
  const ref = podRef(pod);
  return {
    'k8s.pod.uid': ref.uid,
    'k8s.pod': namespacedName(ref),
    'k8s.pod.name': ref.name,
    'k8s.namespace.name': ref.namespace,
    ...(name === 'syncPod' && {'k8s.pod.update_type': updateType}),
  };
}

function traceApiRequests(spans: SpanContexts, mask: Mask): TraceApiRequest {
  return ({method, url}) => {
    const options = {kind: SpanKind.CLIENT, attributes: clientAttributes(method, url)};
    const span = spans.start(SCOPES.client, `HTTP ${method}`, options, spans.current);
    return {
      headers: {traceparent: formatTraceparent(span)},
      responded: (status) => {
        span.setAttribute(STATUS_ATTRIBUTE, status);
        if (status < 400) return;
        span.setAttribute('error.type', String(status));
        span.setStatus({code: SpanStatusCode.ERROR});
      },
      ended: (error) => {
        if (error !== undefined) {
          span.setAttribute('error.type', error instanceof Error ? error.name : 'Error');
          failSpan(span, messageOf(error), mask);
        }
        span.end();
      },
    };
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
