import {ConfigError, UsageError} from '../../base/errors.js';
import type {Connection} from '../../cri/index.js';
import {pullImage} from '../../operations/images/pull-image.js';
import {withContext} from '../../operations/with-context.js';
import type {DialectContext, OutputContext, RuntimeContext} from '../../cli/command/contexts.js';
import {KCRI_PULL, pullOptions, type PullFlags} from './pull-options.js';

const POLICIES = ['missing', 'always', 'never'] as const;

/** Time at which an image is pulled: if the runtime does not have it, before every use, or not at all. */
export type PullPolicy = (typeof POLICIES)[number];

/** Policies of a Pod, as in kubectl's --image-pull-policy. */
const KUBECTL_POLICIES: ReadonlyMap<string, PullPolicy> = new Map([
  ['IfNotPresent', 'missing'],
  ['Always', 'always'],
  ['Never', 'never'],
]);

/** Returns the value of `--pull`, missing by default. Throws UsageError. */
export function parsePullPolicy(text = 'missing'): PullPolicy {
  const known = POLICIES.find((policy) => policy === (KUBECTL_POLICIES.get(text) ?? text));
  if (known !== undefined) return known;
  throw new UsageError(`invalid --pull "${text}": must be one of ${POLICIES.join(', ')}`);
}

/** Image that a container needs. */
export interface NeededImage {
  readonly image: string;
  readonly policy: PullPolicy;
}

/**
 * Pulls an image by a policy, with progress on a terminal. Rejects with ConfigError if it is missing and must not be
 * pulled, and with CriError.
 */
export async function ensureImage(
  services: RuntimeContext & DialectContext & OutputContext,
  {images}: Pick<Connection, 'images'>,
  {image, policy}: NeededImage,
  flags: PullFlags,
): Promise<void> {
  const {dialect, signal} = services;
  if (policy !== 'always') {
    const looking = images.imageStatus({image: {image}}, {signal});
    const found = (await withContext(`looking for image "${image}"`, looking)).image !== undefined;
    if (found) return;
    if (policy === 'never')
      throw new ConfigError(`image "${image}" not found`, {
        hint: 'pull it with "kcri pull", or use --pull=missing',
      });
  }
  const {showProgress} = await dialect.strategy('pull', KCRI_PULL);
  const {authFor, timeoutMs} = await pullOptions(services, flags);
  const pulling = pullImage(images, image, {authFor, timeoutMs, signal});
  const work = withContext(`pulling image "${image}"`, pulling);
  await showProgress(services, {activity: `pulling ${image}`, isMeasured: false}, work);
}
