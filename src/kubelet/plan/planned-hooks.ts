import type {RunHook} from '../container/lifecycle-hook.js';
import {runExec, type HookContext} from '../lifecycle/run-hook.js';

/** Hooks that all succeed: a command is a call of the plan, and nothing is asked or waited for. */
export function plannedHooks({runtime}: Pick<HookContext, 'runtime'>): RunHook {
  return async (hook, signal) =>
    hook.handler.exec === undefined ? undefined : await runExec({runtime}, hook, hook.handler.exec, signal);
}
