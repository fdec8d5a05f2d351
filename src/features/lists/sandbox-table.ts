import type {Container, FieldMask, PodSandbox, PodSandboxMetadata, PodSandboxState} from '../../cri/index.js';
import {humanAgo} from '../../format/duration.js';
import {truncateId} from '../../format/truncate-id.js';
import type {Column} from '../../format/table.js';
import {formatGoTime} from '../../format/time.js';
import type {SandboxDetails} from '../../operations/inspect/fetch-details.js';
import {compareByLargest, compareByText, type SortOrders} from './list-flags.js';
import {formatOrDash, portsText} from '../../cli/output/views/table-cells.js';
import {restartsOf} from './container-table.js';
import {mapLines} from '../../cli/output/views/map-lines.js';

/** State names of `pods`. */
export const SANDBOX_STATES = {
  SANDBOX_READY: 'Ready',
  SANDBOX_NOTREADY: 'NotReady',
} as const satisfies Record<PodSandboxState, string>;

/** Compare functions of `pods --sort`. */
export const SANDBOX_ORDERS = {
  created: compareByLargest((row) => row.createdAt),
  name: compareByText(({metadata}) => `${metadata?.name ?? ''} ${metadata?.namespace ?? ''}`),
  namespace: compareByText(({metadata}) => `${metadata?.namespace ?? ''} ${metadata?.name ?? ''}`),
  state: compareByText((row) => SANDBOX_STATES[row.state]),
  attempt: compareByLargest(({metadata}) => metadata?.attempt ?? 0),
  runtime: compareByText(runtimeName),
  id: compareByText((row) => row.id),
} as const satisfies SortOrders<PodSandbox>;

/** Fields that the columns and sort keys of `pods` use. */
export const SANDBOX_COLUMN_FIELDS = {
  id: true,
  metadata: true,
  state: true,
  createdAt: true,
  runtimeHandler: true,
} as const satisfies FieldMask<PodSandbox>;

/** Returns the columns of `pods`; `full` prints untruncated IDs. */
export function sandboxColumns(nowMs: number, full: boolean): readonly Column<PodSandbox>[] {
  return [
    {header: 'POD ID', value: (row) => (full ? row.id : truncateId(row.id))},
    {header: 'CREATED', value: (row) => humanAgo(row.createdAt, nowMs)},
    {header: 'STATE', value: (row) => SANDBOX_STATES[row.state]},
    {header: 'NAME', value: (row) => row.metadata?.name ?? ''},
    {header: 'NAMESPACE', value: (row) => row.metadata?.namespace ?? ''},
    {header: 'ATTEMPT', value: (row) => String(row.metadata?.attempt ?? 0)},
    {header: 'RUNTIME', value: runtimeName},
  ];
}

/** Data of `pods -o wide` about the containers of a pod. */
export interface PodContainers {
  readonly running: number;
  readonly all: number;
  /** Sum of the restart counts of the existing containers. */
  readonly restarts: number;
}

/** Returns the container data of each pod, by sandbox ID. */
export function podContainers(containers: readonly Container[]): ReadonlyMap<string, PodContainers> {
  const byPod = new Map<string, Container[]>();
  for (const container of containers) {
    const others = byPod.get(container.podSandboxId);
    if (others === undefined) byPod.set(container.podSandboxId, [container]);
    else others.push(container);
  }
  return new Map([...byPod].map(([id, inside]) => [id, summaryOf(inside)]));
}

function summaryOf(containers: readonly Container[]): PodContainers {
  const restarts = new Map<string, number>();
  for (const container of containers) {
    const name = container.metadata?.name ?? '';
    restarts.set(name, Math.max(restarts.get(name) ?? 0, restartsOf(container)));
  }
  return {
    running: containers.filter(({state}) => state === 'CONTAINER_RUNNING').length,
    all: containers.length,
    restarts: [...restarts.values()].reduce((sum, count) => sum + count, 0),
  };
}

const NO_CONTAINERS: PodContainers = {running: 0, all: 0, restarts: 0};

/** Returns the additional columns of `pods -o wide`. */
export function sandboxDetailColumns(
  details: ReadonlyMap<string, SandboxDetails>,
  containers: ReadonlyMap<string, PodContainers>,
): readonly Column<PodSandbox>[] {
  const inside = ({id}: PodSandbox): PodContainers => containers.get(id) ?? NO_CONTAINERS;
  return [
    {header: 'IP', value: ({id}) => formatOrDash(details.get(id)?.ips.join(','))},
    {header: 'PID', value: ({id}) => formatOrDash(details.get(id)?.pid)},
    {header: 'RUNNING', value: (row) => `${inside(row).running}/${inside(row).all}`},
    {header: 'RESTARTS', value: (row) => String(inside(row).restarts)},
    {header: 'PORTS', value: ({id}) => formatOrDash(portsText(details.get(id)?.ports ?? []))},
  ];
}

function runtimeName({runtimeHandler}: PodSandbox): string {
  return runtimeHandler === '' ? '(default)' : runtimeHandler;
}

/** Formats a sandbox for `pods -v`, followed by an empty line. */
export function sandboxBlock(sandbox: PodSandbox): string {
  const attempt = sandbox.metadata?.attempt ?? 0;
  return [
    `ID: ${sandbox.id}`,
    ...metadataLines(sandbox.metadata),
    ...(attempt === 0 ? [] : [`Attempt: ${attempt}`]),
    `Status: ${SANDBOX_STATES[sandbox.state]}`,
    `Created: ${formatGoTime(sandbox.createdAt)}`,
    ...mapLines('Labels:', sandbox.labels),
    ...mapLines('Annotations:', sandbox.annotations),
    `Runtime: ${runtimeName(sandbox)}`,
    '\n',
  ].join('\n');
}

/** Returns name, UID and namespace of a sandbox; empty if unknown. */
export function metadataLines(metadata: PodSandboxMetadata | undefined): readonly string[] {
  if (metadata === undefined) return [];
  const parts = [
    ['Name', metadata.name],
    ['UID', metadata.uid],
    ['Namespace', metadata.namespace],
  ] as const;
  return parts.filter(([, value]) => value !== '').map(([key, value]) => `${key}: ${value}`);
}
