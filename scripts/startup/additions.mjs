/** Bytes that a command may grow by unnoticed, for changes of a few lines. */
const LEEWAY = 1024;

/** Returns what a command loads in excess of its budget, one line per module, with the chain of imports. */
export function additions(budget, now, graph) {
  const isNew = (budgeted) => (module) => !budgeted.includes(module);
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

/** Returns the shortest chain of imports from the entry to a module, through loaded modules. */
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
