#pragma once

int custom_kernel(int number);
