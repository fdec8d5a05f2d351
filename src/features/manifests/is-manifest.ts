/** Reports whether a text is a Kubernetes manifest, which has a kind, rather than a config file of the CRI. */
export function isManifest(text: string): boolean {
  return text.trimStart().startsWith('{') ? hasKind(text) : /^(["']?)(?:kind|apiVersion)\1\s*:/m.test(text);
}

/**
 * Reports whether the text has a top-level `kind`. JSON must be parsed, because a label may be named kind too; YAML
 * shows its levels by indentation.
 */
function hasKind(text: string): boolean {
  try {
    const value = JSON.parse(text) as object;
    return 'kind' in value || 'apiVersion' in value;
  } catch {
    return /"kind"\s*:/.test(text);
  }
}
