import {isIP} from 'node:net';
import type {FieldError} from '../field-error.js';
import {FieldPath} from '../field-path.js';
import type {Pod} from '../types/v1-pod.js';
import type {Service, ServicePort} from '../types/v1-services.js';
import {isHeadless, selectsPod, targetPortOf} from './service-endpoints.js';

/** A part of a Service that differs from a cluster. */
export interface ServiceNotice extends FieldError {
  /** True if clients may fail because of it. */
  readonly isWarning: boolean;
}

const root = new FieldPath(['spec']);

/** Returns what differs from a cluster for clients of a Service; `pods` are those of its manifests. */
export function serviceNotices(service: Service, pods: readonly Pod[]): readonly ServiceNotice[] {
  const unresolved = findUnresolved(service);
  if (unresolved !== undefined) return [unresolved];
  if (service.spec.type === 'ExternalName') return [];
  return [...exposureNotices(service), ...(isHeadless(service) ? [] : portNotices(service, pods))];
}

/** Returns the warning about a Service whose name cannot lead to pods. */
function findUnresolved({metadata, spec}: Service): ServiceNotice | undefined {
  const {type, externalName = '', selector = {}} = spec;
  const warn = (path: FieldPath, reason: string): ServiceNotice => {
    const message = `Service "${metadata.name ?? ''}" does not resolve here, because ${reason}`;
    return {path, message, isWarning: true};
  };
  if (type === 'ExternalName')
    return isIP(externalName) === 0
      ? warn(root.child('externalName'), `"${externalName}" is not an IP address`)
      : undefined;
  return Object.keys(selector).length === 0 ? warn(root, 'it has no selector') : undefined;
}

function exposureNotices({metadata, spec}: Service): readonly ServiceNotice[] {
  const {type = 'ClusterIP', externalIPs = []} = spec;
  if (type === 'ClusterIP' && externalIPs.length === 0) return [];
  const path = root.child(type === 'ClusterIP' ? 'externalIPs' : 'type');
  const hint = 'to reach its pods from outside, use hostPort or "kcri port-forward"';
  const message = `Service "${metadata.name ?? ''}" is not exposed here; ${hint}`;
  return [{path, message, isWarning: false}];
}

/** Returns a notice for each port that clients must replace with that of the pods. */
function portNotices(service: Service, pods: readonly Pod[]): readonly ServiceNotice[] {
  const pod = pods.find((one) => selectsPod(service, one));
  return (service.spec.ports ?? []).flatMap((port, index) => {
    const target = pod === undefined ? numericTarget(port) : targetPortOf(port, pod);
    if (target === port.port) return [];
    const path = root.child('ports').index(index).child('targetPort');
    const name = service.metadata.name ?? '';
    const message = `nothing forwards port ${port.port} of Service "${name}" here: connect to ${name}:${target}`;
    return [{path, message, isWarning: false}];
  });
}

function numericTarget({port, targetPort = port}: ServicePort): number {
  return typeof targetPort === 'number' && targetPort !== 0 ? targetPort : port;
}

/** Returns the notice of a Service that selects none of these pods; undefined if it selects one, or has no selector. */
export function idleServiceNotice(service: Service, pods: readonly Pod[]): ServiceNotice | undefined {
  const {type, selector = {}} = service.spec;
  if (type === 'ExternalName' || Object.keys(selector).length === 0) return undefined;
  if (pods.some((pod) => selectsPod(service, pod))) return undefined;
  const message = `Service "${service.metadata.name ?? ''}" selects no pod on this node, so that its name does not resolve`;
  return {path: root.child('selector'), message, isWarning: true};
}
