/** A ClusterRole as a policy file has it; `rules` is YAML. */
export function clusterRole(name: string, rules: string): string {
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: ${name}}
rules: [${rules}]
`;
}

/** What gives a role to who is named; `subjects` is YAML. */
export function clusterRoleBinding(name: string, subjects: string, role: string): string {
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: ${name}}
subjects: [${subjects}]
roleRef: {kind: ClusterRole, name: ${role}}
`;
}

/** A policy file of these documents. */
export function policyFile(...documents: readonly string[]): string {
  return documents.join('---\n');
}
