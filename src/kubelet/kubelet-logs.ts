import {podLogsName} from './container/node.js';
import type {LoggedContainer} from './logs/log-rotator.js';
import type {OwnContainer} from './kubelet-pods.js';

/** Where a container's log is: as its configuration named it to the runtime. */
export function loggedContainer({record, container}: OwnContainer): LoggedContainer {
  return {
    id: container.id,
    podLogsDir: record.place.podLogsDir,
    pod: podLogsName(record),
    container: container.name,
    log: `${container.restartCount}.log`,
  };
}
