import type {CommandServices} from '../command/command-services.js';

type Environment = CommandServices['context']['env'];

/** Terminals that print control sequences as text. */
const WITHOUT_CURSOR_CONTROL: ReadonlySet<string> = new Set(['dumb', 'unknown', 'emacs']);

/** Reports whether the terminal of the environment can redraw lines; one without a name is assumed to. */
export function canMoveCursor(env: Environment): boolean {
  return !WITHOUT_CURSOR_CONTROL.has(env['TERM'] ?? '');
}

/** Reports whether the locale of the environment uses UTF-8. */
export function usesUtf8(env: Environment): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find(
    (name) => name !== undefined && name !== '',
  );
  return /utf-?8/i.test(locale ?? '');
}
