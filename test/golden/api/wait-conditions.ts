import type {PodStatus} from '../../../src/api/types/v1-status.js';
import type {StoredObject} from '../../fakes/api-server/object-storage.js';

/** Reports whether a pod is in a state that the recorder waited for: `gone`, `exists`, a condition, a phase, or a field. */
export function isInState(pod: StoredObject | undefined, state: string): boolean {
  if (state === 'gone') return pod === undefined;
  if (pod === undefined) return false;
  if (state === 'exists') return true;
  const status = (pod['status'] ?? {}) as PodStatus;
  const [path = '', value] = state.split('=');
  if (value !== undefined) return String(valueAt(pod, path.split('.'))) === value;
  return (
    status.phase === state ||
    (status.conditions ?? []).some((condition) => condition.type === state && condition.status === 'True')
  );
}

/** Returns the value at a path, in which an item of a list is given by its name. */
function valueAt(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined || typeof value !== 'object' || value === null) return value;
  const next = Array.isArray(value)
    ? (value as readonly {readonly name?: string}[]).find(({name}) => name === step)
    : (value as Readonly<Record<string, unknown>>)[step];
  return valueAt(next, rest);
}
