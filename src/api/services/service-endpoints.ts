import {allContainersOf} from '../pod-containers.js';
import type {Pod} from '../types/v1-pod.js';
import type {Service, ServicePort} from '../types/v1-services.js';
import {matchesLabels} from '../workloads/match-labels.js';
import type {ServicePort as VariablePort, Service as VariableService} from './service-variables.js';

/** A pod that Services may select. */
export interface ServicePod {
  readonly pod: Pod;
  /** IP addresses of the pod; empty before it has any. */
  readonly ips: readonly string[];
  readonly isReady: boolean;
  readonly hasEnded: boolean;
  /** True for a pod that was created before the others and is only an endpoint. */
  readonly isOlder: boolean;
}

/** Reports whether a Service has no address of its own (`clusterIP: None`), so that it has no variables. */
export function isHeadless({spec}: Service): boolean {
  return spec.clusterIP === 'None';
}

/** Reports whether a Service selects a pod; one without a selector selects none. */
export function selectsPod({metadata, spec: {selector = {}, type}}: Service, {metadata: pod}: Pod): boolean {
  return (
    type !== 'ExternalName' &&
    Object.keys(selector).length > 0 &&
    (metadata.namespace ?? 'default') === (pod.namespace ?? 'default') &&
    matchesLabels(selector, pod.labels ?? {})
  );
}

/**
 * Returns the pods behind a Service: those that are ready, or, while none is, all that have an address. Unlike in a
 * cluster, where a virtual address exists before any pod is ready, clients could not connect otherwise once they are.
 * Older pods are last.
 */
export function endpointsOf(service: Service, pods: readonly ServicePod[]): readonly ServicePod[] {
  const found = pods
    .filter(({pod, ips, hasEnded}) => ips.length > 0 && !hasEnded && selectsPod(service, pod))
    .toSorted((a, b) => Number(a.isOlder) - Number(b.isOlder));
  const ready = found.filter(({isReady}) => isReady);
  return ready.length === 0 || service.spec.publishNotReadyAddresses === true ? found : ready;
}

/** Returns the port at which a pod serves a port of a Service (FindPort); that of the Service if it has no such port. */
export function targetPortOf({port, targetPort = port, protocol = 'TCP'}: ServicePort, pod: Pod): number {
  if (typeof targetPort === 'number') return targetPort === 0 ? port : targetPort;
  const ports = allContainersOf(pod).flatMap((container) => container.ports ?? []);
  const found = ports.find((one) => one.name === targetPort && (one.protocol ?? 'TCP') === protocol);
  return found?.containerPort ?? port;
}

/**
 * Returns a Service as variables show it: its address is that of its first endpoint, and the ports are those of that
 * pod, because nothing forwards the Service's own. Has no address, and so no variables, without an endpoint.
 */
export function toVariableService(service: Service, pods: readonly ServicePod[]): VariableService {
  const {metadata, spec} = service;
  const [endpoint] = isHeadless(service) ? [] : endpointsOf(service, pods);
  if (endpoint === undefined) return {metadata};
  const ports = (spec.ports ?? []).map((port): VariablePort => {
    const {name, protocol} = port;
    const reachedAt = targetPortOf(port, endpoint.pod);
    return {...(name !== undefined && {name}), ...(protocol && {protocol}), port: port.port, reachedAt};
  });
  return {metadata, spec: {clusterIP: endpoint.ips[0] ?? '', ports}};
}
