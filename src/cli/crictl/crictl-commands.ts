import type {ServiceName} from '../dialect/dialect.js';
import type {ParsedValues} from '../parsing/parse-values.js';
import type {Settings} from '../settings/settings.js';
import type {PullDecisionFlags} from '../settings/should-pull.js';

/** Characteristics of a crictl command. */
export interface CrictlCommand {
  /** True if `-ab` means `-a -b`. */
  readonly combinesShorts?: true;
  /** True if unused arguments are ignored instead of showing the help. */
  readonly ignoresArguments?: true;
  /** Services to connect to and validate first; the runtime service by default. */
  readonly services?: readonly [ServiceName, ...ServiceName[]];
  /** Reports for which arguments it connects before its other checks. If absent, it connects after them. */
  readonly connectsFirst?: (words: readonly string[]) => boolean;
  /** Context of errors of this connection. */
  readonly connecting?: string;
  /** Resolves with the services of a command line, if they depend on its flags. Rejects with UsageError. */
  readonly servicesFor?: (flags: ParsedValues, settings: Settings) => Promise<readonly ServiceName[]>;
}

/** Returns a function that adds the images if the command pulls the image first. */
const pulling =
  (byDefault: (settings: Settings) => boolean): NonNullable<CrictlCommand['servicesFor']> =>
  async (flags, settings) => {
    // Only these commands load the flags.
    const {shouldPull} = await import('../settings/should-pull.js');
    const pulls = shouldPull(flags as unknown as PullDecisionFlags, byDefault(settings));
    return pulls ? ['images', 'runtime'] : ['runtime'];
  };

const always = (): boolean => true;
const atLeast =
  (count: number) =>
  (words: readonly string[]): boolean =>
    words.length >= count;
const atMostOne = (words: readonly string[]): boolean => words.length <= 1;
const oneNamed = (words: readonly string[]): boolean => words.length === 1 && words[0] !== '';

const COMMANDS: Readonly<Record<string, CrictlCommand>> = {
  attach: {combinesShorts: true},
  checkpoint: {combinesShorts: true},
  config: {combinesShorts: true, ignoresArguments: true},
  'create jsonschema': {combinesShorts: true, ignoresArguments: true},
  events: {combinesShorts: true},
  create: {connectsFirst: always, servicesFor: pulling(({pullImageOnCreate}) => pullImageOnCreate)},
  exec: {combinesShorts: true, services: ['runtime', 'images'], connectsFirst: atLeast(1)},
  images: {combinesShorts: true, services: ['images']},
  imagefsinfo: {
    combinesShorts: true,
    ignoresArguments: true,
    services: ['images'],
    connectsFirst: always,
  },
  info: {combinesShorts: true, connectsFirst: always},
  inspect: {services: ['runtime', 'images']},
  inspecti: {combinesShorts: true, services: ['images']},
  inspectp: {combinesShorts: true},
  logs: {combinesShorts: true},
  metricdescs: {combinesShorts: true, connectsFirst: always, connecting: 'get runtime service'},
  metricsp: {combinesShorts: true, connectsFirst: always, connecting: 'get runtime service'},
  pods: {combinesShorts: true, ignoresArguments: true},
  'port-forward': {connectsFirst: atLeast(2)},
  ps: {combinesShorts: true, services: ['runtime', 'images']},
  pull: {combinesShorts: true, services: ['images'], connectsFirst: oneNamed},
  rm: {combinesShorts: true, connectsFirst: always},
  rmi: {
    combinesShorts: true,
    services: ['images'],
    connectsFirst: always,
    servicesFor: async ({prune}) =>
      await Promise.resolve(prune === true ? ['images', 'runtime'] : ['images']),
  },
  rmp: {combinesShorts: true, connectsFirst: always},
  run: {connectsFirst: always, servicesFor: pulling(({disablePullOnRun}) => !disablePullOnRun)},
  'run jsonschema': {combinesShorts: true, ignoresArguments: true},
  runp: {connectsFirst: oneNamed},
  'runp jsonschema': {ignoresArguments: true},
  'pull jsonschema': {ignoresArguments: true},
  'runtime-config': {
    combinesShorts: true,
    ignoresArguments: true,
    connectsFirst: always,
    connecting: 'get runtime client',
  },
  stats: {combinesShorts: true, connectsFirst: atMostOne},
  statsp: {combinesShorts: true, connectsFirst: atMostOne, connecting: 'get runtime service'},
  stop: {combinesShorts: true, connectsFirst: always},
  'update-runtime-config': {combinesShorts: true},
};

/** Commands of crictl without characteristics, and the list of the global flags, to which every help refers. */
const OTHER_COMMANDS: ReadonlySet<string> = new Set([
  'completion',
  'options',
  'start',
  'stopp',
  'update',
  'version',
]);

/** Reports whether crictl has a command, given its name with spaces between words. */
export function isCrictlCommand(command: string): boolean {
  return Object.hasOwn(COMMANDS, command) || OTHER_COMMANDS.has(command);
}

/** Returns the characteristics of a command, given its name with spaces between words. */
export function crictlCommand(command: string): CrictlCommand {
  return COMMANDS[command] ?? {};
}
