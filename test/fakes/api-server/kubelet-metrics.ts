import {request} from 'node:https';
import {uptime} from 'node:os';
import {text} from 'node:stream/consumers';
import type {ApiCall, Handler, Handlers} from './api-call.js';
import {answer} from './api-request.js';
import {kubeletEndpoint, type KubeletClientCertificate} from './kubelet-endpoint.js';
import type {StoredObject} from './object-storage.js';
import {selectorOf} from './selectors.js';

/** A sample of Prometheus's text format. */
interface Sample {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * Returns handlers of metrics.k8s.io, which read /metrics/resource of the kubelets as metrics-server does. CPU usage is
 * the average since the start of the container or machine, so that one sample is sufficient.
 */
export function metricsHandlers(certificate: KubeletClientCertificate): Handlers {
  return {
    'GET nodes.metrics.k8s.io': listHandler(certificate, 'NodeMetrics', nodeMetrics),
    'GET pods.metrics.k8s.io': listHandler(certificate, 'PodMetrics', podMetrics),
  };
}

function listHandler(
  certificate: KubeletClientCertificate,
  kind: string,
  read: (nodeName: string, samples: readonly Sample[]) => readonly StoredObject[],
): Handler {
  return async (call) => {
    const nodes = call.storage.list('/api/v1/nodes').map(({metadata: {name}}) => name);
    const all = await Promise.all(
      nodes.map(async (node) => read(node, await scrape(call, node, certificate))),
    );
    const {name, namespace} = call.target;
    const items = all
      .flat()
      .filter(selectorOf(call.request.query))
      .filter(({metadata}) => namespace === undefined || metadata.namespace === namespace);
    const apiVersion = 'metrics.k8s.io/v1beta1';
    const found = items.find(({metadata}) => metadata.name === name);
    answer(call.response, 200, found ?? {kind: `${kind}List`, apiVersion, metadata: {}, items});
  };
}

async function scrape(
  {storage}: ApiCall,
  node: string,
  certificate: KubeletClientCertificate,
): Promise<readonly Sample[]> {
  const endpoint = kubeletEndpoint(storage, node, certificate);
  if (endpoint === undefined) return [];
  const body = await new Promise<string>((resolve, reject) => {
    const outgoing = request({...endpoint, path: '/metrics/resource'}, (response) => {
      text(response).then(resolve, reject);
    });
    outgoing.on('error', reject).end();
  });
  return body.split('\n').flatMap((line) => parseSample(line) ?? []);
}

function parseSample(line: string): Sample | undefined {
  const found = /^(?<metric>\w+)(?:\{(?<labels>[^}]*)\})? (?<value>\S+)/.exec(line)?.groups;
  if (found === undefined) return undefined;
  const {metric = '', labels = '', value} = found;
  const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', text = '']) => [name, text]);
  return {metric, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value)};
}

function nodeMetrics(name: string, samples: readonly Sample[]): readonly StoredObject[] {
  const valueOf = (metric: string): number => samples.find((sample) => sample.metric === metric)?.value ?? 0;
  const usage = usageOf(
    valueOf('node_cpu_usage_seconds_total') / uptime(),
    valueOf('node_memory_working_set_bytes'),
  );
  return [metricsOf({name}, {usage})];
}

function podMetrics(_node: string, samples: readonly Sample[]): readonly StoredObject[] {
  const started = samples.filter(({metric}) => metric === 'container_start_time_seconds');
  const containers = started.map(({labels, value: startSeconds}) => {
    const valueOf = (wanted: string): number =>
      samples.find((sample) => sample.metric === wanted && isSame(sample.labels, labels))?.value ?? 0;
    const seconds = Math.max(1, Date.now() / 1000 - startSeconds);
    const usage = usageOf(
      valueOf('container_cpu_usage_seconds_total') / seconds,
      valueOf('container_memory_working_set_bytes'),
    );
    return {labels, name: labels['container'] ?? '', usage};
  });
  const pods = new Set(containers.map(({labels}) => `${labels['namespace'] ?? ''}/${labels['pod'] ?? ''}`));
  return [...pods].map((pod) => {
    const [namespace = '', name = ''] = pod.split('/');
    const ofPod = containers.filter(
      ({labels}) => labels['namespace'] === namespace && labels['pod'] === name,
    );
    return metricsOf(
      {name, namespace},
      {containers: ofPod.map((container) => ({name: container.name, usage: container.usage}))},
    );
  });
}

function isSame(a: object, b: object): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function usageOf(cores: number, bytes: number): object {
  return {cpu: `${Math.round(cores * 1e9)}n`, memory: `${Math.round(bytes / 1024)}Ki`};
}

function metricsOf(metadata: object, fields: object): StoredObject {
  return {metadata, timestamp: new Date().toISOString(), window: '10s', ...fields} as unknown as StoredObject;
}
