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
