import type {EnvironmentContext, OutputContext} from '../../cli/command/contexts.js';
import {isTerminalInput} from '../../cli/terminal/terminal-input.js';

/** Terminals without an alternate screen, or with too few characters. */
const PLAIN_TERMINALS: ReadonlySet<string> = new Set(['', 'dumb', 'linux', 'unknown', 'cons25', 'emacs']);

/** Reports whether the terminal can show a view that fills the screen: it takes keys and has an alternate screen. */
export function canFillScreen({context: {env, stdin}, out}: EnvironmentContext & OutputContext): boolean {
  return out.stdout.isTerminal && isTerminalInput(stdin) && !PLAIN_TERMINALS.has(env['TERM'] ?? '');
}
