import {podLogsDirectoryName} from '../contract/node-facts.js';
import type {LoggedContainer} from '../managers/logs/log-rotator.js';
import type {ManagedContainer} from '../pods/workers/managed-pod-sync-handler.js';

/** Returns the log location of a container, as its configuration passed it to the runtime. */
export function toLoggedContainer({record, container}: ManagedContainer): LoggedContainer {
  return {
    id: container.id,
    podLogsDir: record.place.podLogsDir,
    pod: podLogsDirectoryName(record),
    container: container.name,
    log: `${container.restartCount}.log`,
  };
}
