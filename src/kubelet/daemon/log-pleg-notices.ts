import type {Logger} from '../../base/logger.js';
import type {PlegNotice} from '../managers/pleg/pleg-notice.js';

/** Returns a function that logs notices of the PLEG, with the kubelet's messages where they exist. */
export function createPlegNoticeLogger(log: Logger): (notice: PlegNotice) => void {
  const logger = log.forFile('log-pleg-notices.ts');
  return (notice) => {
    switch (notice.kind) {
      case 'relisted':
      case 'event-received':
        return;
      case 'relist-failed':
        logger.error(notice.error, 'GenericPLEG: Unable to retrieve pods');
        return;
      case 'inspection-failed':
        logger.error(notice.error, 'PLEG: Ignoring events for pod', {podUID: notice.uid});
        return;
      case 'event-discarded':
        logger.error(undefined, 'Event channel is full, discard this relist() cycle event', {
          podUID: notice.event.uid,
        });
        return;
      case 'stream-trusted':
        logger.info('Evented PLEG: Relying on runtime events', {}, 2);
        return;
      case 'stream-failed':
        logger.info('Evented PLEG: Failed to get container events, retrying: ', {err: notice.error}, 4);
        if (notice.retryMs === undefined)
          logger.info('Fall back to Generic PLEG relisting since Evented PLEG is not working', {}, 4);
        return;
      case 'event-missed':
        logger.info('Evented PLEG: Relist found a change missed by events', {podUID: notice.uid});
    }
  };
}
