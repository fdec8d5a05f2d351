import type {Container, ContainerState} from '../../cri/index.js';
import {humanAgo} from '../../format/duration.js';
import {truncateDigest, truncateId} from '../../format/id.js';
import type {Column} from '../../format/table.js';
import {podNameOf, podNamespaceOf} from '../../operations/pod-labels.js';
import {mapLines} from './lines.js';

/** What `ps` calls the states. */
export const CONTAINER_STATES = {
  CONTAINER_CREATED: 'Created',
  CONTAINER_RUNNING: 'Running',
  CONTAINER_EXITED: 'Exited',
  CONTAINER_UNKNOWN: 'Unknown',
} as const satisfies Record<ContainerState, string>;

/** How containers are shown. */
export interface ContainerViewOptions {
  readonly nowMs: number;
  /** Whole ids. */
  readonly full: boolean;
  /** The tags to show as images, by container. */
  readonly tags: ReadonlyMap<string, string>;
}

/** The columns of `ps`. */
export function containerColumns({nowMs, full, tags}: ContainerViewOptions): readonly Column<Container>[] {
  const id = full ? (text: string) => text : truncateId;
  const image = full ? (text: string) => text : truncateDigest;
  return [
    {header: 'CONTAINER', value: (row) => id(row.id)},
    {header: 'IMAGE', value: (row) => tags.get(row.id) ?? image(row.image?.image ?? '')},
    {header: 'CREATED', value: (row) => humanAgo(row.createdAt, nowMs)},
    {header: 'STATE', value: (row) => CONTAINER_STATES[row.state]},
    {header: 'NAME', value: (row) => row.metadata?.name ?? ''},
    {header: 'ATTEMPT', value: (row) => String(row.metadata?.attempt ?? 0)},
    {header: 'POD ID', value: (row) => id(row.podSandboxId)},
    {header: 'POD', value: (row) => podNameOf(row) ?? 'unknown'},
    {header: 'NAMESPACE', value: (row) => podNamespaceOf(row) ?? 'unknown'},
  ];
}

/** A container in `ps -v`, with an empty line behind it. */
export function containerBlock(container: Container, nowMs: number): string {
  const {metadata, image} = container;
  return [
    `ID: ${container.id}`,
    `PodID: ${container.podSandboxId}`,
    `Namespace: ${podNamespaceOf(container) ?? 'unknown'}`,
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
