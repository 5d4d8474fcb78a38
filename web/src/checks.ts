// Misuse is told at the call: by a TypeError that names the field, its value and what is allowed.

export type Rule = readonly [allowed: string, accepts: (value: unknown) => boolean];

const tagOf = (value: unknown): string => Object.prototype.toString.call(value);

export const largest = 2 ** 31 - 1;

export const numberFrom = (least: number, whole = false): Rule => [
  `a ${whole ? "whole " : ""}number from ${least} to ${largest}`,
  (value) => typeof value === "number" && value >= least && value <= largest && (!whole || Number.isInteger(value)),
];
export const oneOf = (...values: unknown[]): Rule => [values.join(", "), (value) => values.includes(value)];
export const aFunction: Rule = ["a function", (value) => typeof value === "function"];
export const anObject: Rule = ["an object", (value) => tagOf(value) === "[object Object]"];

/** undefined: neither text, nor of the kind that JSON can hold. (Of a FormData, or of bytes, it makes `{}`.) */
export function payloadText(value: unknown): string | undefined {
  try {
    if (typeof value === "string") return value;
    return Array.isArray(value) || anObject[1](value) ? JSON.stringify(value) : undefined;
  } catch {
    return undefined;
  }
}
export const aPayload: Rule = ["a string, or an object that JSON can hold", (value) => payloadText(value) !== undefined];

export function check(where: string, name: string, value: unknown, [allowed, accepts]: Rule): void {
  if (accepts(value)) return;
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 99)) : Object(value) === value ? tagOf(value) : String(value);
  throw new TypeError(`${where}: ${name} is ${shown}; allowed: ${allowed}`);
}

/** An option that is undefined counts as absent. */
export function checkOptions(where: string, options: object, rules: Readonly<Record<string, Rule>>): void {
  check(where, "options", options, anObject);
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) {
      throw new TypeError(`${where}: unknown option ${name}; allowed: ${Object.keys(rules).join(", ")}`);
    }
    if (value !== undefined) check(where, name, value, rule);
  }
}
