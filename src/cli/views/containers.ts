import type {Container, ContainerState, FieldMask} from '../../cri/index.js';
import {humanAgo} from '../../format/duration.js';
import {truncateDigest, truncateId} from '../../format/id.js';
import type {Column} from '../../format/table.js';
import type {ContainerDetails} from '../../operations/details.js';
import {POD_LABELS, type PodName} from '../../operations/pod-labels.js';
import {annotatedRestarts} from '../../operations/verbose-info.js';
import {byLargest, byText, type Orders} from '../list-flags.js';
import {orDash, portsText} from './cells.js';
import {mapLines} from './lines.js';

/** What `ps` calls the states. */
export const CONTAINER_STATES = {
  CONTAINER_CREATED: 'Created',
  CONTAINER_RUNNING: 'Running',
  CONTAINER_EXITED: 'Exited',
  CONTAINER_UNKNOWN: 'Unknown',
} as const satisfies Record<ContainerState, string>;

/** A container and the pod that it is in, as far as that is known. */
export interface ContainerRow {
  readonly container: Container;
  readonly pod: PodName | undefined;
}

/** What `ps --sort` sorts by. */
export const CONTAINER_ORDERS = {
  created: byLargest(({container}) => container.createdAt),
  name: byText(({container}) => container.metadata?.name ?? ''),
  state: byText(({container}) => CONTAINER_STATES[container.state]),
  attempt: byLargest(({container}) => container.metadata?.attempt ?? 0),
  image: byText(({container}) => container.image?.image ?? ''),
  pod: byText(({pod}) => `${pod?.name ?? ''} ${pod?.namespace ?? ''}`),
  namespace: byText(({pod}) => `${pod?.namespace ?? ''} ${pod?.name ?? ''}`),
  id: byText(({container}) => container.id),
} as const satisfies Orders<ContainerRow>;

/** What the columns of `ps` show, and its orders go by. */
export const CONTAINER_COLUMN_FIELDS = {
  id: true,
  podSandboxId: true,
  metadata: true,
  image: {image: true},
  state: true,
  createdAt: true,
  labels: POD_LABELS,
} as const satisfies FieldMask<Container>;

/** How containers are shown. */
export interface ContainerViewOptions {
  readonly nowMs: number;
  /** Whole ids. */
  readonly full: boolean;
  /** The tags to show as images, by container; undefined = none. */
  readonly tags?: ReadonlyMap<string, string> | undefined;
}

/** The columns of `ps`. */
export function containerColumns({nowMs, full, tags}: ContainerViewOptions): readonly Column<ContainerRow>[] {
  const id = full ? (text: string) => text : truncateId;
  const image = full ? (text: string) => text : truncateDigest;
  return [
    {header: 'CONTAINER', value: ({container}) => id(container.id)},
    {
      header: 'IMAGE',
      value: ({container}) => tags?.get(container.id) ?? image(container.image?.image ?? ''),
    },
    {header: 'CREATED', value: ({container}) => humanAgo(container.createdAt, nowMs)},
    {header: 'STATE', value: ({container}) => CONTAINER_STATES[container.state]},
    {header: 'NAME', value: ({container}) => container.metadata?.name ?? ''},
    {header: 'ATTEMPT', value: ({container}) => String(container.metadata?.attempt ?? 0)},
    {header: 'POD ID', value: ({container}) => id(container.podSandboxId)},
    {header: 'POD', value: ({pod}) => pod?.name ?? 'unknown'},
    {header: 'NAMESPACE', value: ({pod}) => pod?.namespace ?? 'unknown'},
  ];
}

/** The columns that `ps -o wide` has besides. */
export function containerDetailColumns(
  details: ReadonlyMap<string, ContainerDetails>,
): readonly Column<ContainerRow>[] {
  const of = ({container}: ContainerRow): ContainerDetails | undefined => details.get(container.id);
  return [
    {header: 'IP', value: (row) => orDash(of(row)?.ips.join(',') ?? '')},
    {header: 'PID', value: (row) => orDash(of(row)?.pid)},
    {header: 'EXIT CODE', value: (row) => orDash(of(row)?.exitCode)},
    {header: 'RESTARTS', value: ({container}) => String(restartsOf(container))},
    {header: 'PORTS', value: (row) => orDash(portsText(of(row)?.ports ?? []))},
  ];
}

/** How often a container was restarted: what the kubelet says, else which attempt it is. */
export function restartsOf({annotations, metadata}: Container): number {
  return annotatedRestarts(annotations) ?? metadata?.attempt ?? 0;
}

/** A container in `ps -v`, with an empty line behind it. */
export function containerBlock({container, pod}: ContainerRow, nowMs: number): string {
  const {metadata, image} = container;
  return [
    `ID: ${container.id}`,
    `PodID: ${container.podSandboxId}`,
    `Namespace: ${pod?.namespace ?? 'unknown'}`,
    ...(metadata === undefined || metadata.name === '' ? [] : [`Name: ${metadata.name}`]),
    ...(metadata === undefined ? [] : [`Attempt: ${metadata.attempt}`]),
    `State: ${CONTAINER_STATES[container.state]}`,
    ...(image === undefined ? [] : [`Image: ${image.image}`]),
    `Created: ${humanAgo(container.createdAt, nowMs)}`,
    ...mapLines('Labels:', container.labels),
    ...mapLines('Annotations:', container.annotations),
    '\n',
  ].join('\n');
}
