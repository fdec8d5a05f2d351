import {buildAuthConfig, type Credentials, type ImageAuth} from '../../operations/images/pull-image.js';
import type {CreateContainerOptions, PullObserver} from '../../operations/containers/run-container.js';
import type {CliContext} from '../../cli/process/context.js';
import type {PullTimes} from '../../operations/images/pull-progress.js';
import type {
  ConnectionContext,
  DialectContext,
  EnvironmentContext,
  OutputContext,
  ReportContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {resolveCredentials, resolvePullTimeoutMs, type AuthFileFlags} from './pull-flags.js';
import {promptPassword} from '../../cli/terminal/prompt-password.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly pull: PullStrategy;
  }
}

/** Values of the flags of commands that pull images. */
export type PullFlags = Credentials & AuthFileFlags & {readonly 'pull-timeout'?: number | undefined};

/** Differences of pulls between the dialects. */
export interface PullStrategy {
  /** Returns the stored credentials of each image; undefined if the dialect reads none. */
  storedCredentials(
    services: EnvironmentContext & ReportContext & SignalContext,
    flags: PullFlags,
  ): ImageAuth | undefined;
  /** Asks for the password of --username. Rejects with SystemError. */
  readonly askPassword: (context: CliContext) => Promise<string>;
  /** Returns the observer of the pulls before a container is created. */
  observer(services: ReportContext): PullObserver['onPull'];
  /** Waits for a pull, with progress on a terminal. Measures it for a terminal, or if `isMeasured` is set. */
  readonly showProgress: <T>(
    services: ConnectionContext & EnvironmentContext & OutputContext,
    pull: {readonly activity: string; readonly isMeasured: boolean},
    work: Promise<T>,
  ) => Promise<{readonly value: T; readonly times?: PullTimes}>;
}

/** kcri's pulls. */
export const KCRI_PULL: PullStrategy = {
  storedCredentials: (services, flags) =>
    flags['no-auth-file'] === true ? undefined : (image) => findCredentials(services, flags, image),
  askPassword: promptPassword,
  observer: () => undefined,
  showProgress: async (services, {activity, isMeasured}, work) => {
    if (!isMeasured && !services.out.stderr.isTerminal) return {value: await work};
    const {withPullProgress} = await import('./pull-progress.js');
    return await withPullProgress(services, activity, work);
  },
};

/** Returns how to pull images. Rejects with UsageError. */
export async function pullOptions(
  services: DialectContext & EnvironmentContext & ReportContext & SignalContext,
  flags: PullFlags,
) {
  const {context, dialect} = services;
  const strategy = await dialect.strategy('pull', KCRI_PULL);
  return {
    authFor: await authFor(services, flags, strategy),
    timeoutMs: resolvePullTimeoutMs(flags, context.env),
    onPull: strategy.observer(services),
  } satisfies CreateContainerOptions['pull'];
}

/** Returns the credentials for each image: those of the command line for every image, or else the stored ones. */
async function authFor(
  services: EnvironmentContext & ReportContext & SignalContext,
  flags: PullFlags,
  strategy: PullStrategy,
): Promise<ImageAuth> {
  const {context} = services;
  const credentials = resolveCredentials(flags, context.env);
  const given = await buildAuthConfig(credentials, async () => await strategy.askPassword(context));
  const stored = given === undefined ? strategy.storedCredentials(services, flags) : undefined;
  return stored ?? (() => Promise.resolve(given));
}

async function findCredentials(
  {context, report, signal}: EnvironmentContext & ReportContext & SignalContext,
  {'auth-file': file}: PullFlags,
  image: string,
) {
  const {findStoredCredentials} = await import('../../operations/registry-auth/stored-credentials.js');
  return await findStoredCredentials(image, {file, env: context.env, signal, onWarning: report.warn});
}
