import {counted} from '../../base/counted.js';
import type {Connection} from '../../cri/index.js';
import {humanSize} from '../../format/human-size.js';
import type {Column} from '../../format/table.js';
import {truncateId} from '../../format/truncate-id.js';
import {readContainerSizes} from '../../operations/prune/container-sizes.js';
import type {SpaceRange} from '../../operations/prune/freed-space.js';
import type {ImagePrunePlan, ImagePruner} from '../../operations/prune/image-pruner.js';
import {readLogSizes} from '../../operations/prune/log-sizes.js';
import type {PrunablePod, PrunePlan} from '../../operations/prune/plan-prune.js';
import type {
  EnvironmentContext,
  OutputContext,
  ReportContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {formatListTable} from '../lists/list-flags.js';
import type {ListedPod} from '../pods/listed-pod.js';
import {confirm, type ConfirmationFlags} from '../../cli/terminal/confirm.js';
import {PRUNED_IMAGE_COLUMNS, pruneImages} from './prune-images.js';
import {containerTitle, prunePods} from './prune-pods.js';
import {spaceText} from './space-text.js';

/** Returns the pods of the runtime with their managers. */
export function readPrunablePods(listed: readonly ListedPod[]): readonly PrunablePod[] {
  return listed.flatMap(({namespace, name, manager, inRuntime}) =>
    inRuntime === undefined
      ? []
      : [{namespace, name, manager, sandboxes: inRuntime.sandboxes, containers: inRuntime.containers}],
  );
}

/** Objects to prune, and options. */
interface SystemPrune {
  readonly connection: Connection;
  readonly plan: PrunePlan;
  readonly pruner: ImagePruner;
  readonly flags: ConfirmationFlags;
}

/** A container to remove, with its sizes in bytes if they are known. */
interface ContainerRow {
  readonly id: string;
  readonly title: string;
  readonly size: bigint | undefined;
  readonly logSize: bigint | undefined;
}

/** Prints what a prune removes and how much space that frees, asks, and removes it. */
export async function pruneSystem(
  services: EnvironmentContext & OutputContext & ReportContext & SignalContext,
  prune: SystemPrune,
): Promise<void> {
  const {context, out, report} = services;
  const {plan, pruner, flags} = prune;
  const images = await pruner.plan();
  const rows = await readRows(services, prune);
  reportLeftAlone(services, plan, images);
  if (rows.length + plan.sandboxes.length + images.images.length === 0) {
    report.info('Nothing to remove');
    return;
  }
  printPlan(services, prune, {rows, images});
  const what = planText(plan, rows.length, images.images.length);
  out.print(`${flags['dry-run'] ? 'Would remove' : 'To remove:'} ${what}; ${freedText(rows, images.space)}`);
  if (flags['dry-run']) return;
  if (!flags.yes && !(await confirm(context, 'Remove them?'))) {
    report.info('Nothing was removed');
    return;
  }
  const removed = await prunePods(services, prune.connection.runtime, plan);
  const removedImages = await pruneImages(services, pruner, images.images);
  const counts = [
    counted(removed.containers.size, 'container'),
    counted(removed.sandboxes, 'pod'),
    counted(removedImages.length, 'image'),
  ].join(', ');
  const removedRows = rows.filter(({id}) => removed.containers.has(id));
  out.print(`Removed ${counts}; ${freedText(removedRows, pruner.spaceOf(removedImages), 'freed')}`);
}

async function readRows(
  {signal}: SignalContext,
  {connection, plan}: SystemPrune,
): Promise<readonly ContainerRow[]> {
  const found = [
    ...plan.containers,
    ...plan.sandboxes.flatMap(({pod, containers}) => containers.map((container) => ({pod, container}))),
  ];
  const containers = found.map(({container}) => container);
  const [sizes, logs] = await Promise.all([
    readContainerSizes(connection, containers, signal),
    readLogSizes(connection.runtime, containers, signal),
  ]);
  return found.map(({pod, container: {id, metadata}}) => ({
    id,
    title: containerTitle(pod, metadata?.name ?? ''),
    size: sizes.get(id),
    logSize: logs.get(id),
  }));
}

const sizeCell = (size: bigint | undefined): string => (size === undefined ? 'unknown' : humanSize(size, 3));

const CONTAINER_COLUMNS: readonly Column<ContainerRow>[] = [
  {header: 'CONTAINER', value: ({title}) => title},
  {header: 'CONTAINER ID', value: ({id}) => truncateId(id)},
  {header: 'SIZE', value: ({size}) => sizeCell(size)},
  {header: 'LOGS', value: ({logSize}) => (logSize === undefined ? '-' : humanSize(logSize, 3))},
];

function printPlan(
  {out}: OutputContext,
  {plan}: SystemPrune,
  {rows, images}: {readonly rows: readonly ContainerRow[]; readonly images: ImagePrunePlan},
): void {
  const layout = {'no-headers': false, narrow: true, forTerminal: out.shouldEscapeControls};
  const pods = plan.sandboxes.map(({pod, sandbox}) => ({
    title: `${pod.namespace}/${pod.name}`,
    id: sandbox.id,
  }));
  const columns: readonly Column<(typeof pods)[number]>[] = [
    {header: 'POD', value: ({title}) => title},
    {header: 'POD ID', value: ({id}) => truncateId(id)},
  ];
  const tables = [
    rows.length === 0 ? undefined : formatListTable(CONTAINER_COLUMNS, rows, layout),
    pods.length === 0 ? undefined : formatListTable(columns, pods, layout),
    images.images.length === 0 ? undefined : formatListTable(PRUNED_IMAGE_COLUMNS, images.images, layout),
  ];
  for (const table of tables) if (table !== undefined) out.printText(`${table.toString()}\n`);
}

function planText({sandboxes}: PrunePlan, containers: number, images: number): string {
  return [counted(containers, 'container'), counted(sandboxes.length, 'pod'), counted(images, 'image')].join(
    ', ',
  );
}

/** Returns how much space the removal frees; sizes that are unknown are counted. */
function freedText(
  rows: readonly ContainerRow[],
  images: SpaceRange,
  verb: 'frees' | 'freed' = 'frees',
): string {
  const known = rows.reduce((sum, {size = 0n, logSize = 0n}) => sum + size + logSize, 0n);
  const unknown = rows.filter(({size}) => size === undefined).length;
  const space = spaceText({min: known + images.min, max: known + images.max});
  return `${verb} ${space}${unknown === 0 ? '' : `, and the space of ${counted(unknown, 'container')} of unknown size`}`;
}

/** Reports what other programs manage, and images that nothing is known about. */
function reportLeftAlone({report}: ReportContext, {leftAlone}: PrunePlan, {unknown}: ImagePrunePlan): void {
  const {kcri, kubelet} = leftAlone;
  if (kcri > 0)
    report.info(
      `kcri: note: left alone: ${counted(kcri, 'dead object')} (exited containers, sandboxes) of pods created by kcri; "kcri delete" removes pods`,
    );
  if (kubelet > 0)
    report.info(
      `kcri: note: left alone: ${counted(kubelet, 'dead object')} (exited containers, sandboxes) of pods of a kubelet, which removes them itself`,
    );
  if (unknown > 0)
    report.info(
      `kcri: note: left alone: ${counted(unknown, 'image')} whose build time or labels are unknown`,
    );
}
