/** Joins documents, of which objects are encoded as JSON, to a YAML stream. */
export function yamlStream(...documents: readonly (string | object)[]): string {
  return documents
    .map((document) => (typeof document === 'string' ? document : JSON.stringify(document)))
    .join('\n---\n');
}
