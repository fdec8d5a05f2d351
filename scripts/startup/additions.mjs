/** Bytes that a command may gain before somebody has to look: rewording a line is no news. */
const LEEWAY = 1024;

/**
 * What a command loads beyond its budget, a line each, with the imports that lead to it.
 */
export function additions(budget, now, graph) {
  const isNew = (known) => (module) => !known.includes(module);
  const modules = now.modules.filter(isNew(budget.modules));
  const outside = now.outside.filter(isNew(budget.outside));
  const larger = now.bytes - budget.bytes;
  return [
    ...[...modules, ...outside].map((module) => `loads ${chainTo(module, now.modules, graph).join(' → ')}`),
    ...(modules.length === 0 && larger > LEEWAY
      ? [`loads ${now.bytes} bytes, ${larger} more than its budget`]
      : []),
  ];
}

/** The shortest way of imports from the entry, through what was loaded. */
function chainTo(module, loaded, {inputs, entry}) {
  const seen = new Map([[entry, undefined]]);
  const waiting = [entry];
  for (let at = waiting.shift(); at !== undefined && at !== module; at = waiting.shift())
    for (const {path} of inputs[at]?.imports ?? [])
      if (!seen.has(path) && (path === module || loaded.includes(path))) {
        seen.set(path, at);
        waiting.push(path);
      }
  if (!seen.has(module)) return [module];
  const chain = [];
  for (let at = module; at !== undefined; at = seen.get(at)) chain.unshift(at);
  return chain;
}
