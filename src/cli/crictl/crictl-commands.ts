/** Name of a service that crictl connects to before it runs a command. */
export type ServiceName = 'runtime' | 'images';

/** Characteristics of a crictl command. */
export interface CrictlCommand {
  /** True if `-ab` means `-a -b`. */
  readonly combinesShorts?: true;
  /** True if unused arguments are ignored instead of showing the help. */
  readonly ignoresArguments?: true;
  /** Services to connect to and validate first; the runtime service by default. */
  readonly services?: readonly [ServiceName, ...ServiceName[]];
}

const COMMANDS: Readonly<Record<string, CrictlCommand>> = {
  attach: {combinesShorts: true},
  checkpoint: {combinesShorts: true},
  config: {combinesShorts: true, ignoresArguments: true},
  'create jsonschema': {combinesShorts: true},
  events: {combinesShorts: true},
  exec: {combinesShorts: true, services: ['runtime', 'images']},
  images: {combinesShorts: true, services: ['images']},
  imagefsinfo: {combinesShorts: true, ignoresArguments: true, services: ['images']},
  info: {combinesShorts: true},
  inspect: {services: ['runtime', 'images']},
  inspecti: {combinesShorts: true, services: ['images']},
  inspectp: {combinesShorts: true},
  logs: {combinesShorts: true},
  metricdescs: {combinesShorts: true},
  metricsp: {combinesShorts: true},
  pods: {combinesShorts: true, ignoresArguments: true},
  ps: {combinesShorts: true, services: ['runtime', 'images']},
  pull: {combinesShorts: true, services: ['images']},
  rm: {combinesShorts: true},
  rmi: {combinesShorts: true, services: ['images']},
  rmp: {combinesShorts: true},
  'run jsonschema': {combinesShorts: true},
  'runp jsonschema': {ignoresArguments: true},
  'pull jsonschema': {ignoresArguments: true},
  'runtime-config': {combinesShorts: true, ignoresArguments: true},
  stats: {combinesShorts: true},
  statsp: {combinesShorts: true},
  stop: {combinesShorts: true},
  'update-runtime-config': {combinesShorts: true},
};

/** Commands of crictl without characteristics, and the list of the global flags, to which every help refers. */
const OTHER_COMMANDS: ReadonlySet<string> = new Set([
  'completion',
  'create',
  'options',
  'port-forward',
  'run',
  'runp',
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
