import type {ManifestIssue} from './manifest-issue.js';

/** Actions that occur in Helm charts, and hardly in the values of manifests. */
const HELM_ACTION =
  /\{\{-?\s*(?:\.(?:Values|Release|Chart|Capabilities|Files|Template)\b|\/\*|(?:if|else|end|range|with|define|include|template|block|toYaml|tpl|required|default|quote)\b)/;

/** Returns the offset of the first action of a Helm template; undefined if the text has none. */
export function findTemplateAction(text: string): number | undefined {
  return HELM_ACTION.exec(text)?.index;
}

/** Message about a template where a manifest is expected. */
export const TEMPLATE_PROBLEM =
  'this is a Helm template, not a manifest: render it first, such as with "helm template CHART | kcri sync -"';

/** Message about a template that is not one of Helm. */
const OTHER_TEMPLATE_PROBLEM =
  'this is a template, not a manifest: replace what is in "{{ }}" by values first';

/**
 * Returns the first issue that the action of a template has caused, such as `{{.Index}}` in a name or instead of a value,
 * with a message that says so; undefined if no issue has that cause.
 */
export function findTemplateIssue(issues: readonly ManifestIssue[]): ManifestIssue | undefined {
  const found = issues.find(({message, source = ''}) =>
    (message.startsWith('yaml: ') ? source : message).includes('{{'),
  );
  return found && {...found, path: '', message: OTHER_TEMPLATE_PROBLEM};
}
