import type {Container, FieldMask, PodSandbox, PodSandboxMetadata, PodSandboxState} from '../../cri/index.js';
import {humanAgo} from '../../format/duration.js';
import {truncateId} from '../../format/id.js';
import type {Column} from '../../format/table.js';
import {formatGoTime} from '../../format/time.js';
import type {SandboxDetails} from '../../operations/details.js';
import {byLargest, byText, type Orders} from '../list-flags.js';
import {orDash, portsText} from './cells.js';
import {restartsOf} from './containers.js';
import {mapLines} from './lines.js';

/** What `pods` calls the states. */
export const SANDBOX_STATES = {
  SANDBOX_READY: 'Ready',
  SANDBOX_NOTREADY: 'NotReady',
} as const satisfies Record<PodSandboxState, string>;

/** What `pods --sort` sorts by. */
export const SANDBOX_ORDERS = {
  created: byLargest((row) => row.createdAt),
  name: byText(({metadata}) => `${metadata?.name ?? ''} ${metadata?.namespace ?? ''}`),
  namespace: byText(({metadata}) => `${metadata?.namespace ?? ''} ${metadata?.name ?? ''}`),
  state: byText((row) => SANDBOX_STATES[row.state]),
  attempt: byLargest(({metadata}) => metadata?.attempt ?? 0),
  runtime: byText(runtimeName),
  id: byText((row) => row.id),
} as const satisfies Orders<PodSandbox>;

/** What the columns of `pods` show, and its orders go by. */
export const SANDBOX_COLUMN_FIELDS = {
  id: true,
  metadata: true,
  state: true,
  createdAt: true,
  runtimeHandler: true,
} as const satisfies FieldMask<PodSandbox>;

/** The columns of `pods`; `full` = whole ids. */
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

/** What `pods -o wide` shows of the containers in a pod. */
export interface PodContainers {
  readonly running: number;
  readonly all: number;
  /** How often those that are there were restarted, together. */
  readonly restarts: number;
}

/** What there is in each pod, by the sandbox's id. */
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

/** The columns that `pods -o wide` has besides. */
export function sandboxDetailColumns(
  details: ReadonlyMap<string, SandboxDetails>,
  containers: ReadonlyMap<string, PodContainers>,
): readonly Column<PodSandbox>[] {
  const inside = ({id}: PodSandbox): PodContainers => containers.get(id) ?? NO_CONTAINERS;
  return [
    {header: 'IP', value: ({id}) => orDash(details.get(id)?.ips.join(','))},
    {header: 'PID', value: ({id}) => orDash(details.get(id)?.pid)},
    {header: 'RUNNING', value: (row) => `${inside(row).running}/${inside(row).all}`},
    {header: 'RESTARTS', value: (row) => String(inside(row).restarts)},
    {header: 'PORTS', value: ({id}) => orDash(portsText(details.get(id)?.ports ?? []))},
  ];
}

function runtimeName({runtimeHandler}: PodSandbox): string {
  return runtimeHandler === '' ? '(default)' : runtimeHandler;
}

/** A sandbox in `pods -v`, with an empty line behind it. */
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

/** A sandbox's name, UID and namespace, as far as it has them. */
export function metadataLines(metadata: PodSandboxMetadata | undefined): readonly string[] {
  if (metadata === undefined) return [];
  const parts = [
    ['Name', metadata.name],
    ['UID', metadata.uid],
    ['Namespace', metadata.namespace],
  ] as const;
  return parts.filter(([, value]) => value !== '').map(([key, value]) => `${key}: ${value}`);
}
