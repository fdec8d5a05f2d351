import {ageOf} from '../../format/short-duration.js';
import type {Column} from '../../format/table.js';
import type {KubeletReport} from '../../kubelet/index.js';
import {runtimeText} from './describe/kubelet.js';

/** The columns of `get kubelet`. */
export function kubeletColumns({wide}: {readonly wide: boolean}): readonly Column<KubeletReport>[] {
  // By its own clock.
  const now = (report: KubeletReport): number => Date.parse(report.now);
  const columns: readonly Column<KubeletReport>[] = [
    {header: 'PID', value: ({pid}) => String(pid)},
    {header: 'STATUS', value: ({errors}) => (errors.length === 0 ? 'Ready' : 'NotReady')},
    {header: 'PODS', value: ({wantedPods}) => String(wantedPods)},
    {header: 'AGE', value: (report) => ageOf(report.startedAt, now(report))},
    {header: 'ENDPOINT', value: ({endpoint}) => endpoint},
  ];
  if (!wide) return columns;
  return [
    ...columns,
    {header: 'SERVERS', value: ({urls}) => Object.values(urls).join(',') || '<none>'},
    {header: 'RUNTIME', value: (report) => runtimeText(report, now(report))},
  ];
}
