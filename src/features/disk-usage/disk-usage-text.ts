import {humanSize} from '../../format/human-size.js';
import {GrowingTable} from '../../format/growing-table.js';
import {truncateId} from '../../format/truncate-id.js';
import type {Column} from '../../format/table.js';
import {
  summarizeUsage,
  type DiskUsageReport,
  type FilesystemItem,
  type UsageItem,
  type UsageSummary,
} from './disk-usage-report.js';

const sizeCell = (bytes: bigint | undefined): string => (bytes === undefined ? '-' : humanSize(bytes, 3));

const SUMMARY: readonly Column<UsageSummary>[] = [
  {header: 'TYPE', value: ({type}) => type},
  {header: 'TOTAL', value: ({total}) => String(total)},
  {header: 'ACTIVE', value: ({active}) => String(active)},
  {header: 'SIZE', value: ({sizeBytes}) => sizeCell(sizeBytes)},
  {header: 'RECLAIMABLE', value: reclaimableCell},
];

function reclaimableCell({sizeBytes, reclaimableBytes}: UsageSummary): string {
  if (sizeBytes === undefined || sizeBytes === 0n || reclaimableBytes === undefined)
    return sizeCell(reclaimableBytes);
  return `${sizeCell(reclaimableBytes)} (${(reclaimableBytes * 100n) / sizeBytes}%)`;
}

const FILESYSTEMS: readonly Column<FilesystemItem>[] = [
  {header: 'FILESYSTEM OF', value: ({holds}) => holds},
  {header: 'USED', value: ({usedBytes}) => sizeCell(usedBytes)},
  {header: 'INODES', value: ({inodesUsed}) => String(inodesUsed)},
  {header: 'PATH', value: ({mountpoint}) => mountpoint},
];

const ITEMS: readonly Column<UsageItem>[] = [
  {header: 'NAME', value: ({name}) => name},
  {header: 'ID', value: ({type, id}) => (type === 'Volumes' ? '-' : truncateId(id))},
  {header: 'SIZE', value: ({sizeBytes}) => sizeCell(sizeBytes)},
  {header: 'DETAIL', value: ({detail}) => (detail === '' ? '-' : detail)},
  {header: 'RECLAIMABLE', value: ({reclaimable}) => (reclaimable ? 'yes' : 'no')},
];

/** Formats a report as tables: the totals and the filesystems, and with `verbose` all objects. */
export function formatDiskUsage(
  report: DiskUsageReport,
  {verbose, header}: {readonly verbose: boolean; readonly header: boolean},
): string {
  const summaries = summarizeUsage(report);
  const table = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string =>
    new GrowingTable(columns, {header}).text(rows);
  const sections = [table(SUMMARY, summaries), table(FILESYSTEMS, report.filesystems)];
  if (verbose)
    for (const {type} of summaries) {
      const items = report.items.filter((item) => item.type === type);
      if (items.length > 0) sections.push(`${type}:\n${table(ITEMS, items)}`);
    }
  return sections.filter(Boolean).join('\n');
}
