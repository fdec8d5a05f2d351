import {judge, ok, warning, type Check} from '../check.js';

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
];
