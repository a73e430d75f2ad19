/** Installs the packages of the recipes in Python before the suite runs (scripts/test/preparations.ts). */
import { hasRecipes } from "./recipes.ts";

hasRecipes();
