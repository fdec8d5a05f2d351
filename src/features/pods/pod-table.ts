import type {Column} from '../../format/table.js';
import type {PodRow} from './pod-row.js';

/** Row of a pod, with the cause of its state where the table shows it. */
export type ExplainedPodRow = PodRow & {readonly why?: string | undefined};

/** Options of the columns. */
export interface PodColumnOptions {
  readonly wide: boolean;
  readonly namespace: boolean;
  readonly manager: boolean;
  readonly labels: boolean;
  /** True to show the cause of the pod's state. Default false. */
  readonly why?: boolean;
}

/** Returns the columns of `get pods`: those of kubectl, and the manager of each pod. */
export function podColumns({
  wide,
  namespace,
  manager,
  labels,
  why = false,
}: PodColumnOptions): readonly Column<ExplainedPodRow>[] {
  return [
    ...(namespace ? [{header: 'NAMESPACE', value: (row: PodRow) => row.namespace}] : []),
    {header: 'NAME', value: ({name}) => name},
    {header: 'READY', value: ({ready}) => ready},
    {header: 'STATUS', value: ({status}) => status},
    {header: 'RESTARTS', value: ({restarts}) => restarts},
    {header: 'AGE', value: ({age}) => age},
    ...(wide ? WIDE : []),
    ...(wide || manager ? [{header: 'MANAGER', value: (row: PodRow) => row.manager}] : []),
    ...(why ? [{header: 'WHY', value: (row: ExplainedPodRow) => row.why ?? ''}] : []),
    ...(labels ? [{header: 'LABELS', value: (row: PodRow) => row.labels}] : []),
  ];
}

const WIDE: readonly Column<PodRow>[] = [
  {header: 'IP', value: ({ip}) => ip},
  {header: 'NODE', value: ({node}) => node},
  {header: 'NOMINATED NODE', value: ({nominatedNode}) => nominatedNode},
  {header: 'READINESS GATES', value: ({readinessGates}) => readinessGates},
];
