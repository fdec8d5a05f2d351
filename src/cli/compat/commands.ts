/** A service of the runtime that crictl connects to before it does anything. */
export type ServiceName = 'runtime' | 'images';

/** What is peculiar to one of crictl's commands. */
export interface CrictlCommand {
  /** `-ab` means `-a -b`. */
  readonly combinesShorts?: true;
  /** Arguments that it has no use for are no reason to show the help. */
  readonly ignoresArguments?: true;
  /** What it connects to and checks first, the runtime service alone unless given. */
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

/** What is peculiar to a command, by its words with blanks between. */
export function crictlCommand(command: string): CrictlCommand {
  return COMMANDS[command] ?? {};
}
