import type {RunHook} from '../contract/lifecycle-hook.js';
import {runExecHook, type HookContext} from '../managers/lifecycle/hook-runner.js';

/** Creates hooks that always succeed. A command becomes a call of the plan; other handlers are skipped. */
export function plannedHooks({runtime}: Pick<HookContext, 'runtime'>): RunHook {
  return async (hook, signal) =>
    hook.handler.exec === undefined
      ? undefined
      : await runExecHook({runtime}, hook, hook.handler.exec, signal);
}
