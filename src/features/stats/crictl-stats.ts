import {SystemError} from '../../base/errors.js';
import {renderTable} from '../../format/table.js';
import type {Usage} from '../../operations/stats/compute-usage.js';
import type {StatsStrategy} from './show-stats.js';
import {ArgumentsError} from '../../cli/parsing/usage-errors.js';

const CLEAR_SCREEN = '\u001B[2J\u001B[H';

/** Stats as in crictl: of one ID, and with a cleared screen before each table, even in a pipe. */
export const CRICTL_STATS: StatsStrategy = {
  requestedRefs: (words, id) => {
    if (words.length > 1) throw new ArgumentsError(`unexpected argument "${words[1] ?? ''}"`);
    return [id ?? '', ...words].filter((ref) => ref !== '').slice(0, 1);
  },
  thorough: false,
  showsPods: false,
  table:
    (_services, _flags, {usage, columns, idle}) =>
    (before, after) => {
      const rows = usage(before, after).filter((row) => idle || !row.idle);
      return CLEAR_SCREEN + renderTable(columns('crictl'), rows.filter(isMeasured)).toString();
    },
};

/**
 * Reports whether usage was measured twice; crictl omits new objects. Throws SystemError if the runtime did not measure
 * again.
 */
function isMeasured({cpuPercent}: Usage<unknown>): boolean {
  if (cpuPercent === 'stale') throw new SystemError('cpu stat is not updated during sample');
  return cpuPercent !== 'new';
}
