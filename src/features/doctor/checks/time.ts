import {judge, ok, skipped, warning, type Check} from '../check.js';
import {isMissing, valueOf} from '../fact.js';

/** Distance of the clocks from which on it is a warning. */
const LIMIT_MS = 5000;
const SECOND_MS = 1000;
const SYNCHRONIZED = '/run/systemd/timesync/synchronized';

/** Checks of the clock. */
export const TIME_CHECKS: readonly Check[] = [
  {
    id: 'time/synchronization',
    title: 'synchronization of the clock',
    examine: ({files, processes}) => {
      const file = files[SYNCHRONIZED];
      if (file !== undefined && 'value' in file) return ok('systemd-timesyncd has synchronized the clock');
      return judge([processes], ({timeKeepers}) =>
        timeKeepers.length > 0
          ? ok(`${timeKeepers.join(', ')} runs; whether it has reached a server was not examined`)
          : warning('no program that synchronizes the clock runs', {
              details: [`looked for ${SYNCHRONIZED}, and for chronyd, ntpd, openntpd, ptp4l and phc2sys`],
              remedy: ['timedatectl set-ntp true', 'apt-get install chrony'],
            }),
      );
    },
  },
  {
    id: 'time/api-server',
    title: 'clock against that of the API server',
    examine: ({kubelet: {apiServer, processes}}) => {
      if (valueOf(processes)?.length === 0) return skipped('no process named kubelet runs');
      if (isMissing(apiServer)) return skipped('the kubelet has no kubeconfig: it runs without a cluster');
      return judge([apiServer], ({date, receivedAt, ms, url}) => {
        if (date === '') return skipped(`${url} does not tell its time`);
        // The API server tells whole seconds, some time before the answer arrived.
        const ahead = Date.parse(receivedAt) - Date.parse(date);
        const off = ahead < 0 ? -ahead : Math.max(0, ahead - ms - SECOND_MS);
        if (off < LIMIT_MS) return ok(`less than ${LIMIT_MS / SECOND_MS}s apart`);
        return warning(
          `the clock of this node is ${Math.round(off / SECOND_MS)}s ${ahead < 0 ? 'behind' : 'ahead of'} that of ${url}`,
          {
            details: ['certificates, tokens and leases are judged by both clocks'],
            remedy: ['timedatectl', 'chronyc tracking'],
          },
        );
      });
    },
  },
];
