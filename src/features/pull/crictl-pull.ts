import type {PullObserver} from '../../operations/containers/run-container.js';
import type {ReportContext} from '../../cli/command/contexts.js';
import type {PullStrategy} from './pull-options.js';
import {FlagError} from '../../cli/parsing/usage-errors.js';

/** Pulls as in crictl: without stored credentials and progress. */
export const CRICTL_PULL: PullStrategy = {
  storedCredentials: () => undefined,
  observer: announcePulls,
  invalidTimeout: (value, error) =>
    new FlagError(
      `could not parse "${value}" as duration value from environment variable "CRICTL_PULL_TIMEOUT" for flag pull-timeout: time: invalid duration "${value}"`,
      {cause: error},
    ),
  showProgress: async (_services, _pull, work) => ({value: await work}),
};

/**
 * Returns a function that announces each pull. As in crictl, it names the container's own image even for a mounted
 * image.
 */
function announcePulls({report}: ReportContext): PullObserver['onPull'] {
  let main = '';
  return (image, mountedAt) => {
    if (mountedAt === undefined) main = image;
    report.info(
      mountedAt === undefined
        ? `Pulling container image: ${main}`
        : `Pulling image ${main} to be mounted to container path: ${mountedAt}`,
    );
  };
}
