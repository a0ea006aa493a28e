// Builds elements. What comes from outside (names, results, words) gets in as text alone:
// nothing here parses markup, so a device named like a tag stays a name.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children. `on` holds listeners, `class` may hold empty parts. */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for drawings. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** Put these in the place of all children; null and false are left out. */
export function show(place, ...children) {
  place.replaceChildren(...children.flat(Infinity).filter(isThere));
  return place;
}

/** Only when the page looks different: a live region would be read again otherwise. */
export function say(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

/** A length or a colour by the object model, which a strict content policy lets through. */
export function styled(node, properties) {
  for (const [name, value] of Object.entries(properties)) node.style.setProperty(name, value);
  return node;
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [kind, tell] of Object.entries(value)) node.addEventListener(kind, tell);
    } else if (value === true) {
      node.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      node.setAttribute(name, String(value));
    }
  }
  node.append(...children.flat(Infinity).filter(isThere));
  return node;
}

function isThere(child) {
  return child !== null && child !== undefined && child !== false && child !== "";
}
