import {formatAgeSince} from '../../format/age.js';
import type {Column} from '../../format/table.js';
import type {KubeletReport} from '../../kubelet/index.js';
import {formatRuntimeMode} from './describe-kubelet.js';

/** Returns the columns of `get kubelet`. */
export function kubeletColumns({wide}: {readonly wide: boolean}): readonly Column<KubeletReport>[] {
  // Uses the clock of the kubelet.
  const now = (report: KubeletReport): number => Date.parse(report.now);
  const columns: readonly Column<KubeletReport>[] = [
    {header: 'PID', value: ({pid}) => String(pid)},
    {header: 'STATUS', value: ({errors}) => (errors.length === 0 ? 'Ready' : 'NotReady')},
    {header: 'PODS', value: ({wantedPods}) => String(wantedPods)},
    {header: 'AGE', value: (report) => formatAgeSince(report.startedAt, now(report))},
    {header: 'ENDPOINT', value: ({endpoint}) => endpoint},
  ];
  if (!wide) return columns;
  return [
    ...columns,
    {header: 'SERVERS', value: ({urls}) => Object.values(urls).join(',') || '<none>'},
    {header: 'RUNTIME', value: (report) => formatRuntimeMode(report, now(report))},
  ];
}
