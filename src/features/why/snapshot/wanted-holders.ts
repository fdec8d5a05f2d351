import {longRunningContainersOf} from '../../../api/pod-containers.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodSnapshot} from './pod-snapshot.js';

/** Message about a port of the node that cannot be listened on. */
export const HOST_PORT_TAKEN =
  /(?:hostport|host port|listen (?:tcp|udp)|bind)[^\n]*?:?(\d+)[^\n]*address already in use/;
/** Message about a path that is in use; the last path before it is meant. */
const BUSY = /^[^\n]*?(\/[^\s":,]+)[^\n/]*?\bbusy\b/m;
/** A port in the message of a program. */
const PORT = /:(\d{1,5})\b/;
const IN_USE = /address already in use|EADDRINUSE/i;
/** Number of ports and of paths whose users are looked for. */
const MAX_WANTED = 4;

/** Ports and paths whose users matter. */
export interface WantedHolders {
  readonly ports: readonly number[];
  readonly paths: readonly string[];
}

/** Returns the ports of the node and the paths that cannot be had, as messages about the pod name them. */
export function wantedHolders({pod, events, kubelet, containers}: PodSnapshot): WantedHolders {
  const messages = [...events.map(({message}) => message), kubelet?.worker.error ?? ''];
  const ports = [
    ...messages.flatMap((message) => HOST_PORT_TAKEN.exec(message)?.[1] ?? []).map(Number),
    ...(pod.status?.reason === 'NodePorts' ? hostPortsOf(pod) : []),
    ...(pod.spec.hostNetwork === true
      ? Object.values(containers).flatMap(({log = []}) => log.flatMap(portInUse))
      : []),
  ];
  const paths = messages.flatMap((message) => BUSY.exec(message)?.[1] ?? []);
  return {ports: [...new Set(ports)].slice(0, MAX_WANTED), paths: [...new Set(paths)].slice(0, MAX_WANTED)};
}

/** Returns the host ports of a pod. */
export function hostPortsOf(pod: Pick<Pod, 'spec'>): readonly number[] {
  return longRunningContainersOf(pod).flatMap(({ports = []}) =>
    ports.flatMap(({hostPort}) => hostPort ?? []),
  );
}

/** Returns the port that a line says is in use. */
export function portInUse(line: string): readonly number[] {
  const port = PORT.exec(line)?.[1];
  return IN_USE.test(line) && port !== undefined ? [Number(port)] : [];
}
