import {Decoder} from '../../../api/decoding/decoder.js';
import {FieldPath} from '../../../api/field-path.js';
import type {ManifestNode} from '../../../api/decoding/manifest-node.js';
import {PodValidationError} from '../../../api/decoding/manifest-issue.js';
import type {ObjectMeta} from '../../../api/types/v1-meta.js';
import {list, object, objectSchema, required, text} from '../../../api/schema/object-schema.js';
import {objectMeta} from '../../../api/types/v1-meta.js';
import {SourceText} from '../../../api/decoding/source-text.js';
import {parseYaml} from '../../../api/decoding/parse-yaml.js';
import {ConfigError} from '../../../base/errors.js';
import {withFileErrors} from '../../../base/fs/files.js';
import {readBoundedFile} from '../../../base/fs/read-bounded-file.js';
import type {User} from '../../contract/access-reviews.js';
import type {RequestAttributes} from './request-attributes.js';

/** Permissions that a role grants (rbac/v1 PolicyRule). */
interface PolicyRule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

interface ClusterRole {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly rules?: readonly PolicyRule[];
}

interface Subject {
  readonly kind: string;
  readonly apiGroup?: string;
  readonly name: string;
  readonly namespace?: string;
}

interface RoleRef {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
}

interface ClusterRoleBinding {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly subjects?: readonly Subject[];
  readonly roleRef: RoleRef;
}

const policyRule = objectSchema<PolicyRule>('PolicyRule', {
  verbs: list(text),
  apiGroups: list(text),
  resources: list(text),
  resourceNames: list(text),
  nonResourceURLs: list(text),
});

const clusterRole = objectSchema<ClusterRole>('ClusterRole', {
  apiVersion: required(text),
  kind: required(text),
  metadata: required(object(objectMeta)),
  rules: list(object(policyRule)),
});

const subject = objectSchema<Subject>('Subject', {
  kind: required(text),
  apiGroup: text,
  name: required(text),
  namespace: text,
});

const roleRef = objectSchema<RoleRef>('RoleRef', {
  apiGroup: text,
  kind: required(text),
  name: required(text),
});

const clusterRoleBinding = objectSchema<ClusterRoleBinding>('ClusterRoleBinding', {
  apiVersion: required(text),
  kind: required(text),
  metadata: required(object(objectMeta)),
  subjects: list(object(subject)),
  roleRef: required(object(roleRef)),
});

const API_VERSION = 'rbac.authorization.k8s.io/v1';

/** Reports whether the policy allows a user a request to the node. */
export type AuthorizationPolicy = (user: User, attributes: RequestAttributes) => boolean;

/**
 * Reads an RBAC policy from a file of ClusterRoles and ClusterRoleBindings. The policy allows the bound users and
 * groups the verbs on `nodes/proxy`, `nodes/metrics`, `nodes/stats`, `nodes/log` and other subresources of this node
 * that the rules list; it denies everything else. Rejects with SystemError when the file cannot be read, ConfigError
 * for a binding to an unknown role, and PodValidationError, with the position, for an invalid manifest.
 */
export async function readAuthorizationPolicy(file: string, nodeName: string): Promise<AuthorizationPolicy> {
  const content = await withFileErrors('reading', file, () => readBoundedFile(file));
  return parseAuthorizationPolicy(content.toString(), file, nodeName);
}

/** Parses the text of a policy file; see {@link readAuthorizationPolicy}. */
export function parseAuthorizationPolicy(
  content: string,
  file: string,
  nodeName: string,
): AuthorizationPolicy {
  const {roles, bindings} = decodePolicy(content, file);
  const rulesByRole = new Map(roles.map(({metadata, rules = []}) => [metadata.name ?? '', rules]));
  for (const {metadata, roleRef: role} of bindings)
    if (role.kind !== 'ClusterRole' || !rulesByRole.has(role.name))
      throw new ConfigError(
        `invalid ClusterRoleBinding "${metadata.name ?? ''}" in "${file}": ${role.kind} "${role.name}" not found in the file`,
        {hint: 'bind only ClusterRoles that are defined in the same file'},
      );
  return (user, attributes) =>
    bindings.some(
      ({subjects = [], roleRef: role}) =>
        subjects.some((candidate) => isSubject(candidate, user)) &&
        (rulesByRole.get(role.name) ?? []).some((rule) => allows(rule, attributes, nodeName)),
    );
}

interface DecodedPolicy {
  readonly roles: readonly ClusterRole[];
  readonly bindings: readonly ClusterRoleBinding[];
}

function decodePolicy(content: string, file: string): DecodedPolicy {
  const source = new SourceText(file, content);
  const decoder = new Decoder();
  const roles: ClusterRole[] = [];
  const bindings: ClusterRoleBinding[] = [];
  const issues = [];
  for (const {root, problems} of parseYaml(content)) {
    issues.push(...problems.map((problem) => source.createSyntaxIssue(problem)));
    if (root === undefined) continue;
    const kind = kindOf(root);
    if (kind === `${API_VERSION} ClusterRole`) roles.push(decoder.decode(clusterRole, root, new FieldPath()));
    else if (kind === `${API_VERSION} ClusterRoleBinding`)
      bindings.push(decoder.decode(clusterRoleBinding, root, new FieldPath()));
    else
      issues.push(
        source.createIssue(
          root.offset,
          '',
          `must be a ClusterRole or ClusterRoleBinding of apiVersion ${API_VERSION}`,
        ),
      );
  }
  issues.push(
    ...decoder.problems.map(({offset, path, message}) =>
      source.createIssue(offset, path.toString(), message),
    ),
  );
  if (issues.length > 0) throw new PodValidationError(issues);
  return {roles, bindings};
}

function kindOf(node: ManifestNode): string {
  if (node.kind !== 'map') return '';
  const [version, kind] = ['apiVersion', 'kind'].map((name) => {
    const value = node.entries.get(name)?.value;
    return value?.kind === 'scalar' ? String(value.value) : '';
  });
  return `${version ?? ''} ${kind ?? ''}`;
}

function isSubject({kind, name, namespace = ''}: Subject, user: User): boolean {
  if (kind === 'User') return user.name === name;
  if (kind === 'Group') return user.groups.includes(name);
  return kind === 'ServiceAccount' && user.name === `system:serviceaccount:${namespace}:${name}`;
}

/** Reports whether the rule allows the request for at least one of its subresources (rbac RuleAllows). */
function allows(rule: PolicyRule, {verb, subresources}: RequestAttributes, nodeName: string): boolean {
  const {verbs = [], apiGroups = [], resources = [], resourceNames = []} = rule;
  return (
    hasOrAny(verbs, verb) &&
    hasOrAny(apiGroups, '') &&
    (resourceNames.length === 0 || resourceNames.includes(nodeName)) &&
    subresources.some((name) => hasOrAny(resources, `nodes/${name}`) || resources.includes(`*/${name}`))
  );
}

function hasOrAny(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}
