import type {Container, ContainerState, FieldMask} from '../../cri/index.js';
import {humanAgo} from '../../format/duration.js';
import {truncateDigest, truncateId} from '../../format/truncate-id.js';
import type {Column} from '../../format/table.js';
import type {ContainerDetails} from '../../operations/inspect/fetch-details.js';
import {POD_LABEL_MASK, type PodName} from '../../operations/pods/pod-labels.js';
import {restartCountFromAnnotations} from '../../operations/inspect/verbose-info.js';
import {compareByLargest, compareByText, type SortOrders} from './list-flags.js';
import {formatOrDash, portsText} from '../../cli/output/views/table-cells.js';
import {mapLines} from '../../cli/output/views/map-lines.js';

/** State names of `ps`. */
export const CONTAINER_STATES = {
  CONTAINER_CREATED: 'Created',
  CONTAINER_RUNNING: 'Running',
  CONTAINER_EXITED: 'Exited',
  CONTAINER_UNKNOWN: 'Unknown',
} as const satisfies Record<ContainerState, string>;

/** Container with its pod, if known. */
export interface ContainerRow {
  readonly container: Container;
  readonly pod: PodName | undefined;
}

/** Compare functions of `ps --sort`. */
export const CONTAINER_ORDERS = {
  created: compareByLargest(({container}) => container.createdAt),
  name: compareByText(({container}) => container.metadata?.name ?? ''),
  state: compareByText(({container}) => CONTAINER_STATES[container.state]),
  attempt: compareByLargest(({container}) => container.metadata?.attempt ?? 0),
  image: compareByText(({container}) => container.image?.image ?? ''),
  pod: compareByText(({pod}) => `${pod?.name ?? ''} ${pod?.namespace ?? ''}`),
  namespace: compareByText(({pod}) => `${pod?.namespace ?? ''} ${pod?.name ?? ''}`),
  id: compareByText(({container}) => container.id),
} as const satisfies SortOrders<ContainerRow>;

/** Fields that the columns and sort keys of `ps` use. */
export const CONTAINER_COLUMN_FIELDS = {
  id: true,
  podSandboxId: true,
  metadata: true,
  image: {image: true},
  state: true,
  createdAt: true,
  labels: POD_LABEL_MASK,
} as const satisfies FieldMask<Container>;

/** Options of the columns of `ps`. */
export interface ContainerViewOptions {
  readonly nowMs: number;
  /** True to show untruncated IDs. */
  readonly full: boolean;
  /** Image tags by container; undefined to show image IDs. */
  readonly tags?: ReadonlyMap<string, string> | undefined;
}

/** Returns the columns of `ps`. */
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

/** Returns the additional columns of `ps -o wide`. */
export function containerDetailColumns(
  details: ReadonlyMap<string, ContainerDetails>,
): readonly Column<ContainerRow>[] {
  const of = ({container}: ContainerRow): ContainerDetails | undefined => details.get(container.id);
  return [
    {header: 'IP', value: (row) => formatOrDash(of(row)?.ips.join(',') ?? '')},
    {header: 'PID', value: (row) => formatOrDash(of(row)?.pid)},
    {header: 'EXIT CODE', value: (row) => formatOrDash(of(row)?.exitCode)},
    {header: 'RESTARTS', value: ({container}) => String(restartsOf(container))},
    {header: 'PORTS', value: (row) => formatOrDash(portsText(of(row)?.ports ?? []))},
  ];
}

/** Returns the restart count: the annotation of the kubelet, or else the attempt. */
export function restartsOf({annotations, metadata}: Container): number {
  return restartCountFromAnnotations(annotations) ?? metadata?.attempt ?? 0;
}

/** Formats a container for `ps -v`, followed by an empty line. */
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
