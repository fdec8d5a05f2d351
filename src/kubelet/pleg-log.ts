import type {Logger} from '../base/logger.js';
import type {PlegNotice} from './pleg/pleg-notice.js';

/** Tells in the log, in the kubelet's words where it has some, what the PLEG says of itself. */
export function plegLog(logger: Logger): (notice: PlegNotice) => void {
  return (notice) => {
    switch (notice.kind) {
      case 'relisted':
      case 'event-heard':
        return;
      case 'relist-failed':
        logger.error(notice.error, 'GenericPLEG: Unable to retrieve pods');
        return;
      case 'look-failed':
        logger.error(notice.error, 'PLEG: Ignoring events for pod', {podUID: notice.uid});
        return;
      case 'event-discarded':
        logger.error(undefined, 'Event channel is full, discard this relist() cycle event', {
          podUID: notice.event.uid,
        });
        return;
      case 'stream-trusted':
        logger.info('Evented PLEG: the events of the runtime are relied on', {}, 2);
        return;
      case 'stream-failed':
        logger.info('Evented PLEG: Failed to get container events, retrying: ', {err: notice.error}, 4);
        if (notice.retryMs === undefined)
          logger.info('Fall back to Generic PLEG relisting since Evented PLEG is not working', {}, 4);
        return;
      case 'event-missed':
        logger.info('Evented PLEG: a relist has found what no event had told of', {podUID: notice.uid});
    }
  };
}
