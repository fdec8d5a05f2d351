import {readFile} from 'node:fs/promises';
import {Decoder} from '../../../api/decode.js';
import {FieldPath} from '../../../api/field-path.js';
import type {ManifestNode} from '../../../api/manifest-tree.js';
import {PodValidationError} from '../../../api/manifest-issue.js';
import type {ObjectMeta} from '../../../api/v1-meta.js';
import {list, object, objectSchema, required, text} from '../../../api/schema.js';
import {objectMeta} from '../../../api/schema-meta.js';
import {SourceText} from '../../../api/source-text.js';
import {parseYaml} from '../../../api/yaml-tree.js';
import {ConfigError} from '../../../base/errors.js';
import {withFileErrors} from '../../../base/files.js';
import type {RequestAttributes, User} from './attributes.js';

/** What a role lets do (rbac/v1 PolicyRule), as far as it can be about a node. */
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

/** Whether a user may do with the node what he asks for. */
export type Authorize = (user: User, attributes: RequestAttributes) => boolean;

/** AlwaysAllow. */
export const ALLOW_ALL: Authorize = () => true;

/**
 * A policy from a file with ClusterRoles and ClusterRoleBindings, as a cluster has them: what their rules say of
 * `nodes/proxy`, `nodes/metrics`, `nodes/stats`, `nodes/log` and so on of this node is allowed to users and groups that
 * they are bound to, and nothing else to anybody. Rejects with SystemError, ConfigError, or PodValidationError that
 * shows what is wrong and where.
 */
export async function readPolicy(file: string, nodeName: string): Promise<Authorize> {
  const content = await withFileErrors('reading', file, () => readFile(file, 'utf8'));
  return policyOf(content, file, nodeName);
}

/** The same of the file's text. */
export function policyOf(content: string, file: string, nodeName: string): Authorize {
  const {roles, bindings} = decodePolicy(content, file);
  const rulesByRole = new Map(roles.map(({metadata, rules = []}) => [metadata.name ?? '', rules]));
  for (const {metadata, roleRef: role} of bindings)
    if (role.kind !== 'ClusterRole' || !rulesByRole.has(role.name))
      throw new ConfigError(
        `the ClusterRoleBinding "${metadata.name ?? ''}" in "${file}" is to the ${role.kind} "${role.name}", which is not in that file`,
        {hint: 'only ClusterRoles of the same file can be bound'},
      );
  return (user, attributes) =>
    bindings.some(
      ({subjects = [], roleRef: role}) =>
        subjects.some((one) => isSubject(one, user)) &&
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
  for (const {root, faults} of parseYaml(content)) {
    issues.push(...faults.map(({offset, message}) => source.issue(offset, '', `yaml: ${message}`)));
    if (root === undefined) continue;
    const kind = kindOf(root);
    if (kind === `${API_VERSION} ClusterRole`) roles.push(decoder.decode(clusterRole, root, new FieldPath()));
    else if (kind === `${API_VERSION} ClusterRoleBinding`)
      bindings.push(decoder.decode(clusterRoleBinding, root, new FieldPath()));
    else
      issues.push(
        source.issue(
          root.offset,
          '',
          `must be a ClusterRole or ClusterRoleBinding of apiVersion ${API_VERSION}`,
        ),
      );
  }
  issues.push(
    ...decoder.problems.map(({offset, path, message}) => source.issue(offset, path.toString(), message)),
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

/** Whether the rule lets do this with at least one of the subresources (rbac RuleAllows). */
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
