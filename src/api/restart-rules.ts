import type {Container, ContainerRestartRule} from './types/v1-pod.js';

/** Returns the container's first restart rule that matches the exit code (findMatchingContainerRestartRule). */
export function findMatchingRestartRule(
  {restartPolicyRules = []}: Pick<Container, 'restartPolicyRules'>,
  code: number,
): ContainerRestartRule | undefined {
  return restartPolicyRules.find(({exitCodes}) => {
    if (exitCodes === undefined) return false;
    const {operator, values = []} = exitCodes;
    return values.includes(code) !== (operator === 'NotIn');
  });
}
