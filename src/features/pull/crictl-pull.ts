import {SystemError} from '../../base/errors.js';
import {promptPassword} from '../../cli/terminal/prompt-password.js';
import type {PullObserver} from '../../operations/containers/run-container.js';
import type {ReportContext} from '../../cli/command/contexts.js';
import type {PullStrategy} from './pull-options.js';

/** Pulls as in crictl: without stored credentials and progress. */
export const CRICTL_PULL: PullStrategy = {
  storedCredentials: () => undefined,
  // It reads the password from a terminal only.
  askPassword: async (context) => {
    if (context.stdin.isTTY === true) return await promptPassword({...context, stderr: context.stdout});
    context.stdout.write('Enter Password:\n');
    throw new SystemError('inappropriate ioctl for device');
  },
  observer: announcePulls,
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
