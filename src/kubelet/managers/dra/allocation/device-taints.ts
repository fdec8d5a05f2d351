import type {DeviceTaint, DeviceToleration} from '../../../../api/types/v1-device-resources.js';

/** Returns the first taint that keeps a device from being allocated (taintPreventsAllocation). */
export function findUntolerated(
  taints: readonly DeviceTaint[],
  tolerations: readonly DeviceToleration[],
): DeviceTaint | undefined {
  return taints.find(
    (taint) =>
      (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') &&
      !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}

/** Reports whether a toleration is for a taint (ToleratesTaint). */
function tolerates(
  {effect = '', key = '', operator = 'Equal', value = ''}: DeviceToleration,
  taint: DeviceTaint,
): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  return operator === 'Exists' || (operator === 'Equal' && value === (taint.value ?? ''));
}
