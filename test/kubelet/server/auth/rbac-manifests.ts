/** Returns the manifest of a ClusterRole; `rules` is YAML. */
export function clusterRole(name: string, rules: string): string {
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: ${name}}
rules: [${rules}]
`;
}

/** Returns the manifest of a ClusterRoleBinding; `subjects` is YAML. */
export function clusterRoleBinding(name: string, subjects: string, role: string): string {
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: ${name}}
subjects: [${subjects}]
roleRef: {kind: ClusterRole, name: ${role}}
`;
}

/** Returns a policy file with these documents. */
export function policyFile(...documents: readonly string[]): string {
  return documents.join('---\n');
}
